#!/usr/bin/env python3
"""Reads a SQLite garage without the library: written from Docs/Format.md alone.

usage: reader.py STORE

Prints one line of JSON for each record, {"type", "id", "value"}, in the order of their keys. What is damaged goes
to standard error, one line each, and the status is then 1. Needs Python 3.8 and its standard library.
"""

import base64
import hashlib
import json
import math
import os
import sqlite3
import struct
import sys
import uuid

FORMAT = 1
APPLICATION_ID = 0x47415247
METADATA, TAG_TEXT, SHAPE_TEXT, RECORD = 0x00, 0x01, 0x02, 0x10
MAXIMUM_DEPTH = 512


class Damage(Exception):
    """What is stored breaks the rules of the page."""


# Checksums and digests.


def crc_table():
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


CRC_TABLE = crc_table()


def crc32c(*parts):
    """CRC-32C (RFC 3720, appendix B.4) of the parts in a row."""
    crc = 0xFFFFFFFF
    for part in parts:
        for byte in part:
            crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def digest(content):
    return hashlib.sha256(content).digest()[:8]


# Bytes.


class Cursor:
    """Takes bytes from the front, never more than there are."""

    def __init__(self, content):
        self.content, self.position, self.end = content, 0, len(content)

    @property
    def rest(self):
        return self.end - self.position

    def take(self, count, what):
        if count > self.rest:
            raise Damage(f"{what} needs {count} bytes, {self.rest} are left")
        self.position += count
        return self.content[self.position - count : self.position]

    def byte(self, what):
        return self.take(1, what)[0]

    def number(self, count, what, signed=False):
        return int.from_bytes(self.take(count, what), "little", signed=signed)

    def varint(self, what):
        """LEB128, at most 8 bytes."""
        result = 0
        for shift in range(0, 56, 7):
            byte = self.byte(what)
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result
        raise Damage(f"{what} is a number of more than 8 bytes")

    def counted(self, what):
        return self.take(self.varint(what), what)


def utf8(content, what):
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Damage(f"{what} is no UTF-8") from error


def floating(value):
    """JSON has no NaN and no infinity."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


class DecimalText(float):
    """A number that json writes with all of its digits."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __repr__(self):
        return self.text


# Identifiers.


def identifier(content, texts):
    """An identifier as JSON."""
    cursor = Cursor(content)
    kind = cursor.byte("an identifier")
    if kind == 0x10:
        cursor.byte("a nil")
        value = None
    elif kind == 0x20:
        value = integer_identifier(cursor)
    elif kind == 0x30:
        bits = int.from_bytes(cursor.take(8, "a date"), "big")
        bits = bits ^ (1 << 63) if bits >> 63 else bits ^ (1 << 64) - 1
        value = floating(struct.unpack(">d", bits.to_bytes(8, "big"))[0])
    elif kind == 0x40:
        value = str(uuid.UUID(bytes=cursor.take(16, "a UUID"))).upper()
    elif kind == 0x50:
        value = utf8(cursor.take(cursor.rest, "a string"), "a string identifier")
    elif kind == 0x60:
        value = Body(cursor, texts, shapes=None, references=None).whole()
    elif kind == 0x70:
        value = cursor.take(16, "a digest").hex()
    else:
        raise Damage(f"identifiers of kind {kind:02X} are not known")
    if cursor.rest:
        raise Damage(f"{cursor.rest} bytes follow the identifier")
    return value


def integer_identifier(cursor):
    sign = cursor.byte("an integer") - 0x80
    if not -16 <= sign <= 16:
        raise Damage(f"an integer identifier has {abs(sign)} bytes")
    content = cursor.take(abs(sign), "an integer")
    if sign >= 0:
        if content[:1] == b"\0":
            raise Damage("an integer identifier has more bytes than it needs")
        return int.from_bytes(content, "big")
    if content[:1] == b"\xFF":
        raise Damage("an integer identifier has more bytes than it needs")
    return -int.from_bytes(bytes(byte ^ 0xFF for byte in content), "big")


# Bodies.

PACKED = {  # kind: (struct format, size)
    2: ("d", 8), 3: ("b", 1), 4: ("h", 2), 5: ("i", 4), 6: ("q", 8), 7: ("Q", 8), 8: ("f", 4), 9: ("d", 8),
    10: ("?", 1),
}


class Body:
    """Values of one body. In canonical bodies (`shapes` is None) are neither shapes nor tables."""

    def __init__(self, cursor, texts, shapes, references):
        self.cursor, self.texts = cursor, texts
        self.shapes, self.references = shapes, references

    def whole(self):
        value = self.value(0)
        if value is ABSENT:
            raise Damage("the body is absent")
        if self.cursor.rest:
            raise Damage(f"{self.cursor.rest} bytes follow the body")
        return value

    def value(self, depth):
        cursor = self.cursor
        tag = cursor.byte("a value")
        if tag >= 0xC0:
            if tag >= 0xE0:
                raise Damage(f"values of tag {tag:02X} are not known")
            return self.reference(tag - 0xC0)
        if tag >= 0x80:
            return utf8(cursor.take(tag - 0x80, "a string"), "a string")
        if tag >= 0x40:
            return tag - 0x40
        read = self.READERS.get(tag)
        if read is None:
            raise Damage(f"values of tag {tag:02X} are not known")
        return read(self, tag, depth)

    def absent(self, tag, depth):
        return ABSENT

    def constant(self, tag, depth):
        return {0x01: None, 0x02: False, 0x03: True}[tag]

    def integer(self, tag, depth):
        return self.cursor.number(1 << tag - 0x04, "an integer", signed=True)

    def unsigned(self, tag, depth):
        return self.cursor.number(8 << tag - 0x09, "an unsigned integer")

    def float(self, tag, depth):
        if tag == 0x0B:
            return floating(struct.unpack("<f", self.cursor.take(4, "a float"))[0])
        return floating(struct.unpack("<d", self.cursor.take(8, "a double or a date"))[0])

    def uuid(self, tag, depth):
        return str(uuid.UUID(bytes=self.cursor.take(16, "a UUID"))).upper()

    def decimal(self, tag, depth):
        text = utf8(self.cursor.take(self.cursor.byte("a decimal"), "a decimal"), "a decimal")
        try:
            return "NaN" if text.lower() == "nan" else DecimalText(text)
        except ValueError as error:
            raise Damage(f"{text!r} is no decimal number") from error

    def length(self, tag, what):
        """Of what has a short form with an even tag, and a long one with the next."""
        return self.cursor.number(4 if tag & 1 else 1, what)

    def data(self, tag, depth):
        return base64.b64encode(self.cursor.take(self.length(tag, "data"), "data")).decode()

    def string(self, tag, depth):
        return utf8(self.cursor.take(self.length(tag, "a string"), "a string"), "a string")

    def part(self, length, what):
        """A body for the next `length` bytes alone."""
        return Body(Cursor(self.cursor.take(length, what)), self.texts, self.shapes, self.references)

    def map(self, tag, depth):
        self.check(depth)
        length, shape = self.length(tag, "a map"), self.length(tag, "a map")
        part, result = self.part(length, "a map"), {}
        for key in self.shape(shape):
            value = part.value(depth + 1)
            if value is not ABSENT:
                result[key] = value
        last = None
        while part.cursor.rest:
            content = part.cursor.counted("a key")
            if last is not None and content <= last:
                raise Damage("the entries of a map are not in order")
            last, key = content, utf8(content, "a key")
            value = part.value(depth + 1)
            if key in result:
                raise Damage(f"a map has the key {key!r} twice")
            if value is not ABSENT:
                result[key] = value
        return result

    def shape(self, position):
        if position == 0:
            return []
        if self.shapes is None or position > len(self.shapes):
            raise Damage(f"there is no shape {position}")
        return self.shapes[position - 1]

    def array(self, tag, depth):
        self.check(depth)
        length, count = self.length(tag, "an array"), self.length(tag, "an array")
        part = self.part(length, "an array")
        if count > length:
            raise Damage(f"an array of {count} values has {length} bytes")
        result = [part.value(depth + 1) for _ in range(count)]
        if part.cursor.rest:
            raise Damage(f"{part.cursor.rest} bytes follow the values of an array")
        return [None if value is ABSENT else value for value in result]

    def packed(self, tag, depth):
        self.check(depth)
        length, kind = self.length(tag, "a packed array"), self.length(tag, "a packed array")
        content = self.cursor.take(length, "a packed array")
        if kind == 1:
            return packed_strings(Cursor(content))
        if kind == 11:
            return list(content)
        if kind not in PACKED:
            raise Damage(f"packed arrays of kind {kind} are not known")
        code, size = PACKED[kind]
        if length % size:
            raise Damage(f"a packed array of elements of {size} bytes has {length} bytes")
        if kind == 10 and content.strip(b"\0\1"):
            raise Damage("a packed array of booleans has other bytes than 0 and 1")
        values = list(struct.unpack(f"<{length // size}{code}", content))
        return [floating(value) for value in values] if code in "fd" else values

    def numbered_reference(self, tag, depth):
        return self.reference(self.length(tag, "a reference"))

    def reference(self, position):
        if self.references is None or position >= len(self.references):
            raise Damage(f"there is no reference {position}")
        return self.references[position]

    def canonical_reference(self, tag, depth):
        type_tag = self.cursor.take(8, "a reference")
        return reference(type_tag, self.cursor.counted("a reference"), self.texts)

    def versioned(self, tag, depth):
        self.cursor.varint("a version")
        return self.marked(depth)

    def with_status(self, tag, depth):
        if self.cursor.byte("a sync status") > 3:
            raise Damage("there is no such sync status")
        return self.marked(depth)

    def marked(self, depth):
        """The value behind a version or a status, which says nothing in JSON."""
        self.check(depth)
        value = self.value(depth + 1)
        if value is ABSENT:
            raise Damage("a value with a version or a status is absent")
        return value

    def check(self, depth):
        if depth >= MAXIMUM_DEPTH:
            raise Damage(f"values nest deeper than {MAXIMUM_DEPTH}")

    READERS = {
        0x00: absent, 0x01: constant, 0x02: constant, 0x03: constant,
        0x04: integer, 0x05: integer, 0x06: integer, 0x07: integer, 0x08: integer, 0x09: unsigned, 0x0A: unsigned,
        0x0B: float, 0x0C: float, 0x0D: float, 0x0E: uuid, 0x0F: decimal, 0x10: data, 0x11: data,
        0x12: string, 0x13: string, 0x14: map, 0x15: map, 0x16: array, 0x17: array, 0x18: packed, 0x19: packed,
        0x1A: numbered_reference, 0x1B: numbered_reference, 0x1C: canonical_reference, 0x1D: with_status, 0x1E: versioned,
    }


ABSENT = object()


def packed_strings(cursor):
    count = cursor.varint("packed strings")
    if count > cursor.rest:
        raise Damage(f"{count} packed strings have {cursor.rest} bytes")
    strings = [utf8(cursor.counted("a packed string"), "a packed string") for _ in range(count)]
    if cursor.rest:
        raise Damage(f"{cursor.rest} bytes follow packed strings")
    return strings


def reference(type_tag, content, texts):
    return {"$reference": {"type": texts.tag(type_tag), "id": identifier(content, texts)}}


# Records.


def record(key, value, texts):
    """The type, the identifier and the value of a record, as JSON."""
    cursor = Cursor(value)
    version, flags = cursor.byte("a record"), cursor.byte("a record")
    if version != FORMAT:
        raise Damage(f"the record has format {version}; this reader knows format {FORMAT}")
    checksum = cursor.number(4, "a checksum")
    if checksum != crc32c(key[1:], value[:2], value[6:]):
        raise Damage("the checksum does not match")
    cursor.take(6, "a time")
    if flags & 0x03 and not flags & 0x04:
        raise Damage("there is a sync status, and its flag is not set")
    full = full_identifier(key[9:], cursor.counted("an identifier") if flags & 0x08 else None)
    concrete = cursor.take(8, "a type tag") if flags & 0x10 else key[1:9]
    references = reference_table(cursor, texts) if flags & 0x20 else []
    shapes = shape_table(cursor, texts) if flags & 0x40 else []
    if flags & 0x80:
        cursor.varint("a version")
    value = Body(cursor, texts, shapes, references).whole()
    return {"type": texts.tag(concrete), "id": identifier(full, texts), "value": value}


def full_identifier(in_key, whole):
    if (whole is not None) != (len(in_key) == 240):
        raise Damage("whether the identifier is cut differs between key and record")
    if whole is None:
        return in_key
    if len(whole) < 240 or in_key != whole[:224] + hashlib.sha256(whole).digest()[:16]:
        raise Damage("the identifier in the key is not that in the record")
    return whole


def reference_table(cursor, texts):
    count = cursor.varint("a reference table")
    if count > cursor.rest // 8:
        raise Damage(f"a reference table of {count} types has {cursor.rest} bytes")
    tags = [cursor.take(8, "a type tag") for _ in range(count)]
    count = cursor.varint("a reference table")
    if count > cursor.rest:
        raise Damage(f"a reference table of {count} references has {cursor.rest} bytes")
    references = []
    for _ in range(count):
        head = cursor.byte("a reference")
        kind, tag = head >> 6, head & 0x3F
        if kind == 3:
            raise Damage("references of kind 3 are not known")
        if tag == 63:
            tag = cursor.varint("a reference")
        if tag >= len(tags):
            raise Damage(f"there is no type {tag} in the reference table")
        references.append(reference(tags[tag], cursor.counted("a reference"), texts))
    return references


def shape_table(cursor, texts):
    count = cursor.varint("a shape table")
    if count > cursor.rest // 8:
        raise Damage(f"a shape table of {count} shapes has {cursor.rest} bytes")
    return [texts.shape(cursor.take(8, "a shape")) for _ in range(count)]


# Stores.


class Texts:
    """The texts of tags and shapes, which records name by their digests."""

    def __init__(self, store):
        self.store, self.tags, self.shapes = store, {}, {}

    def text(self, space, name, what):
        key = bytes([space]) + name
        row = self.store.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise Damage(f"the text of the {what} {name.hex()} is missing")
        if digest(row[0]) != name:
            raise Damage(f"the text of the {what} {name.hex()} is damaged")
        return row[0]

    def tag(self, name):
        if name not in self.tags:
            self.tags[name] = utf8(self.text(TAG_TEXT, name, "type tag"), "the text of a type tag")
        return self.tags[name]

    def shape(self, name):
        if name not in self.shapes:
            cursor, keys = Cursor(self.text(SHAPE_TEXT, name, "shape")), []
            while cursor.rest:
                keys.append(utf8(cursor.counted("a shape"), "a key of a shape"))
            self.shapes[name] = keys
        return self.shapes[name]


def check_metadata(store):
    for name, expected in ("application_id", APPLICATION_ID), ("user_version", 1):
        if store.execute(f"PRAGMA {name}").fetchone()[0] != expected:
            raise Damage(f"this is no garage that this reader knows: its {name} is another")
    row = store.execute("SELECT value FROM entries WHERE key = ?", (b"\0garage",)).fetchone()
    if row is None:
        raise Damage("the store has no metadata: nothing has been parked in it")
    cursor = Cursor(row[0])
    if cursor.take(6, "metadata") != b"Garage":
        raise Damage("the metadata does not begin with Garage")
    version = int.from_bytes(cursor.take(2, "metadata"), "big")
    if version != FORMAT:
        raise Damage(f"the store has format {version}; this reader knows format {FORMAT}")
    cursor.take(8, "metadata")
    if cursor.take(8, "metadata") != digest(row[0][:16]) or cursor.rest:
        raise Damage("the metadata is damaged")


def write_records(store):
    """Prints every record, and gives the number of damaged ones."""
    texts, damaged = Texts(store), 0
    rows = store.execute(
        "SELECT key, value FROM entries WHERE key >= ? AND key < ? ORDER BY key",
        (bytes([RECORD]), bytes([RECORD + 1])))
    for key, value in rows:
        try:
            if len(key) < 10:
                raise Damage("the key is too short")
            print(json.dumps(record(key, value, texts)))
        except Damage as error:
            damaged += 1
            print(f"reader.py: record {key.hex()}: {error}", file=sys.stderr)
    return damaged


def main(arguments):
    if len(arguments) != 1:
        print("usage: reader.py STORE", file=sys.stderr)
        return 2
    sys.setrecursionlimit(10_000)
    path = os.path.abspath(arguments[0])
    try:
        store = sqlite3.connect("file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=ro", uri=True)
        check_metadata(store)
        return 1 if write_records(store) else 0
    except (Damage, sqlite3.Error) as error:
        print(f"reader.py: {path}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
