"""What is kept of a job's output: its head and its tail within a bound, however much it writes. Pure."""

HEAD_BYTES = 8 * 1024
TAIL_BYTES = 8 * 1024


class HeadTail:
    """Bytes fed in, a bounded text out: the first and the last 8 KiB, with a line that says what is missing."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes; memory stays within the bound plus this one piece."""
        self._total += len(data)
        room = HEAD_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[:-TAIL_BYTES]

    def text(self) -> str:
        """The kept output as text; bytes that are no UTF-8 are replaced, and so are NULs, which databases refuse."""
        missing = self._total - len(self._head) - len(self._tail)
        gap = f"\n[{missing} bytes left out]\n".encode() if missing else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode(errors="replace").replace("\0", "\ufffd")
