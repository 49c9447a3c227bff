"""An engine that can not fence: claims every plan that it sees, copies it, and checks the copy.

usage: claim_engine.py MANAGER_FILE SESSION_FILE REGISTER
The Manager's file: its word at 0, a word that is not 0 when it is over at 64, the page at 4096.
"""
import ctypes
import mmap
import os
import sys

ACTIVE, PART_DRAINED, DRAINED, FAILED = 1, 2, 3, 4
GRANTED = 0x11
PAGE, HALF, END = 4096, 8192, 12288

if sys.argv[3] == "register":
    number = {"x86_64": 324, "aarch64": 283}[os.uname().machine]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(number), 4, 0, 0):
        sys.exit("membarrier: errno %d" % ctypes.get_errno())


def mapped(path, access, length):
    with open(path, "rb" if access == mmap.ACCESS_READ else "r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), length, access=access))


arena = mapped(sys.argv[1], mmap.ACCESS_READ, END)
words = arena[:PAGE].cast("Q")
own = mapped(sys.argv[2], mmap.ACCESS_WRITE, PAGE).cast("Q")
claimed = copies = backed_off = torn = 0
print("ready", flush=True)
while not words[8]:
    word = words[0]
    generation = word >> 8
    if word & 0xFF != GRANTED or generation <= claimed:
        continue
    claimed = generation
    own[0] = generation << 8 | ACTIVE
    if words[0] != word:
        own[0] = generation << 8 | FAILED
        backed_off += 1
        continue
    copy = bytes(arena[PAGE:HALF])
    own[0] = generation << 8 | PART_DRAINED
    copy += bytes(arena[HALF:END])
    own[0] = generation << 8 | DRAINED
    copies += 1
    if copy != generation.to_bytes(8, sys.byteorder) * (len(copy) // 8):
        torn += 1
print(copies, backed_off, torn, flush=True)
