package io.orbitkv.adapter;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * What the components of a path were when it was looked at, from the root on: device and inode of
 * each, none of them a symlink. Immutable.
 */
final class PathIdentity {
  private record Component(Path path, Object identity) {}

  private final List<Component> components;
  private final BasicFileAttributes last;

  private PathIdentity(List<Component> components, BasicFileAttributes last) {
    this.components = components;
    this.last = last;
  }

  /**
   * Looks at a path.
   *
   * @param path absolute and normal
   * @throws TransportException INVALID if a component is a symlink or not there
   */
  static PathIdentity of(Path path) {
    List<Component> components = new ArrayList<>();
    Path at = Objects.requireNonNull(path.getRoot());
    BasicFileAttributes attributes = look(path, at);
    components.add(new Component(at, identity(at, attributes)));
    for (Path name : path) {
      at = at.resolve(name);
      attributes = look(path, at);
      components.add(new Component(at, identity(at, attributes)));
    }
    return new PathIdentity(List.copyOf(components), attributes);
  }

  boolean isFolder() {
    return last.isDirectory();
  }

  boolean isRegularFile() {
    return last.isRegularFile();
  }

  /**
   * Looks again.
   *
   * @throws TransportException INVALID if anything on the way is not what it was
   */
  void check() {
    for (Component component : components) {
      Path path = component.path();
      if (!component.identity().equals(identity(path, look(components.getLast().path(), path)))) {
        throw new TransportException(
            FaultCode.INVALID,
            path + " is not what it was when this process began; start the process again");
      }
    }
  }

  private static BasicFileAttributes look(Path whole, Path at) {
    BasicFileAttributes attributes;
    try {
      attributes = Files.readAttributes(at, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.INVALID, whole + ": " + at + " can not be looked at; make it first", e);
    }
    if (attributes.isSymbolicLink()) {
      throw new TransportException(
          FaultCode.INVALID, whole + ": " + at + " is a symlink; write the path without one");
    }
    return attributes;
  }

  private static Object identity(Path path, BasicFileAttributes attributes) {
    Object key = attributes.fileKey(); // (dev=...,ino=...) on every Unix
    if (key == null) {
      throw new TransportException(
          FaultCode.UNSUPPORTED, path + ": this file system tells no inodes; use another");
    }
    return key;
  }
}
