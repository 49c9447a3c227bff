# Sourced by bin/orbitkv and by the launcher of the source tree. POSIX sh, no child processes on the usual path.
#
# orbitkv_find_java PROGRAM: sets ORBITKV_JAVA_HOME to the home of a Java >= 25 that has bin/PROGRAM ("java" or
# "javac") and ORBITKV_JAVA_ID to what identifies that very build of it. Prints one line and returns 1 if none is found.

ORBITKV_JAVA_MINIMUM=25

# Reads the release file of a Java home ($1); true if it is new enough and has bin/$2.
orbitkv_java_fits() {
    [ -n "$1" ] && [ -x "$1/bin/$2" ] && [ -r "$1/release" ] || return 1
    orbitkv_version='' orbitkv_runtime='' orbitkv_vendor='' orbitkv_arch=''
    while IFS='=' read -r orbitkv_key orbitkv_value || [ -n "$orbitkv_key" ]; do
        orbitkv_value=${orbitkv_value#\"}
        orbitkv_value=${orbitkv_value%\"}
        case $orbitkv_key in
            JAVA_VERSION) orbitkv_version=$orbitkv_value ;;
            JAVA_RUNTIME_VERSION) orbitkv_runtime=$orbitkv_value ;;
            IMPLEMENTOR) orbitkv_vendor=$orbitkv_value ;;
            OS_ARCH) orbitkv_arch=$orbitkv_value ;;
        esac
    done <"$1/release"
    orbitkv_major=${orbitkv_version%%[!0-9]*}
    [ -n "$orbitkv_major" ] && [ "$orbitkv_major" -ge "$ORBITKV_JAVA_MINIMUM" ] || return 1
    ORBITKV_JAVA_HOME=$1
    ORBITKV_JAVA_ID="$orbitkv_vendor $orbitkv_runtime $orbitkv_arch"
}

orbitkv_find_java() {
    orbitkv_java_fits "${JAVA_HOME:-}" "$1" && return 0
    for orbitkv_home in /usr/lib/jvm/*; do
        orbitkv_java_fits "$orbitkv_home" "$1" && return 0
    done
    orbitkv_path=$(command -v "$1" 2>/dev/null) && orbitkv_path=$(readlink -f "$orbitkv_path") &&
        orbitkv_java_fits "${orbitkv_path%/bin/*}" "$1" && return 0
    echo "orbitkv: no Java $ORBITKV_JAVA_MINIMUM or newer with bin/$1 was found (JAVA_HOME=${JAVA_HOME:-not set}," \
        "/usr/lib/jvm, PATH): install a JDK $ORBITKV_JAVA_MINIMUM (Debian: apt-get install openjdk-25-jdk-headless," \
        "or Temurin 25) or set JAVA_HOME to one" >&2
    return 1
}
