#!/usr/bin/env python3
"""Reads a SQLite garage without the library: written from Docs/Format.md alone.

usage: reader.py [--keys] STORE

Prints one line of JSON for each record, {"type", "id", "value"}, in the order of their keys; with --keys one for each
typed key instead, {"namespaces", "name", "value"}. Both are checked either way. What is damaged goes to standard
error, one line each, and the status is then 1. Needs Python 3.8 and its standard library.
"""

import base64
import hashlib
import hmac
import json
import math
import os
import sqlite3
import struct
import sys
import uuid

FORMAT = 1
STORE_FORMATS = [1, 2]
APPLICATION_ID = 0x47415247
METADATA, TAG_TEXT, SHAPE_TEXT, RECORD = 0x00, 0x01, 0x02, 0x10
HASHED_REFERENCE, REFERENCE = 0x1E, 0x1F
INDEX, SYNC_STATUS, TYPED_KEY = 0x20, 0x21, 0x30
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


def record(key, value, store):
    """The type, the identifier and the value of a record, as JSON."""
    cursor, texts = Cursor(value), store.texts
    flags, checksum = record_head(cursor)
    cursor.take(6, "a time")
    if flags & 0x03 and not flags & 0x04:
        raise Damage("there is a sync status, and its flag is not set")
    full, form = full_identifier(
        key[9:], cursor.counted("an identifier") if flags & 0x08 else None, store.hash_key)
    if checksum != crc32c(key[1:9], form, value[:2], value[6:]):
        raise Damage("the checksum does not match")
    if flags & 0x04 and store.get(bytes([SYNC_STATUS, flags & 0x03]) + key[1:]) is None:
        raise Damage("the entry for its sync status is missing")
    concrete = cursor.take(8, "a type tag") if flags & 0x10 else key[1:9]
    references = reference_table(cursor, texts) if flags & 0x20 else []
    shapes = shape_table(cursor, texts) if flags & 0x40 else []
    if flags & 0x80 and cursor.varint("a version") == 0:
        raise Damage("a version of 0 is written")
    value = Body(cursor, texts, shapes, references).whole()
    return {"type": texts.tag(concrete), "id": identifier(full, texts), "value": value}


def record_head(cursor):
    version, flags = cursor.byte("a record"), cursor.byte("a record")
    if version != FORMAT:
        raise Damage(f"the record has format {version}; this reader knows format {FORMAT}")
    return flags, cursor.number(4, "a checksum")


def cut(whole, count):
    """The key form of what is too long for a key: its first bytes, and a digest of the whole."""
    return whole[: count - 16] + hashlib.sha256(whole).digest()[:16]


def full_identifier(in_key, whole, hash_key):
    """The whole identifier, and its key form."""
    if hash_key is not None:
        if whole is None:
            raise Damage("the record does not hold the identifier that its key hides")
        form = whole if len(whole) < 240 else cut(whole, 240)
        if in_key != hmac.new(hash_key, form, hashlib.sha256).digest()[:16]:
            raise Damage("the identifier in the key is not that in the record")
        return whole, form
    if (whole is not None) != (len(in_key) == 240):
        raise Damage("whether the identifier is cut differs between key and record")
    if whole is None:
        return in_key, in_key
    if len(whole) < 240 or in_key != cut(whole, 240):
        raise Damage("the identifier in the key is not that in the record")
    return whole, in_key


# Typed keys.


def typed_key(key, value, store):
    """The namespaces, the name and the value of a typed key, as JSON."""
    cursor, texts = Cursor(value), store.texts
    flags, checksum = record_head(cursor)
    if checksum != crc32c(key[1:], value[:2], value[6:]):
        raise Damage("the checksum does not match")
    if flags & ~0x68:
        raise Damage(f"the flags {flags:02X} are not known")
    whole = cursor.counted("a key") if flags & 0x08 else None
    if (whole is not None) != (len(key) == 480):
        raise Damage("whether the key is cut differs between key and value")
    if whole is not None and (len(whole) < 480 or key != cut(whole, 480)):
        raise Damage("the key is not that in the value")
    references = reference_table(cursor, texts) if flags & 0x20 else []
    shapes = shape_table(cursor, texts) if flags & 0x40 else []
    namespaces, name = parts(Cursor(whole or key))
    return {"namespaces": namespaces, "name": name, "value": Body(cursor, texts, shapes, references).whole()}


def parts(cursor):
    """What stands in a typed key."""
    cursor.byte("a key")
    namespaces = []
    while True:
        mark = cursor.byte("a key")
        if mark == 0x01:
            return namespaces, utf8(cursor.take(cursor.rest, "a name"), "a name")
        if mark != 0x02:
            raise Damage(f"a part of a key begins with {mark:02X}")
        name = bytearray()
        while True:
            byte = cursor.byte("a namespace")
            if byte == 0:
                if cursor.content[cursor.position : cursor.position + 1] != b"\xFF":
                    break
                cursor.byte("a namespace")
            name.append(byte)
        if not name:
            raise Damage("a namespace without a name is written")
        namespaces.append(utf8(bytes(name), "a namespace"))


# Indexes.


def catalog(cursor):
    """The indexes of a store, by their numbers: tags, count of fields, whether hashed, of a subclass, and complete."""
    content = cursor.content
    if len(content) < 8 or content[-8:] != digest(content[:-8]):
        raise Damage("the catalog of indexes is damaged")
    cursor.end -= 8
    version = cursor.byte("a catalog")
    if version not in (1, 2, 3):
        raise Damage("this reader does not know this catalog of indexes")
    indexes = {}

    def counted():
        return cursor.take(int.from_bytes(cursor.take(2, "a length"), "big"), "a catalog")

    for _ in range(int.from_bytes(cursor.take(2, "a catalog"), "big")):
        state = cursor.byte("a state")
        cursor.take(16, "kinds")
        utf8(counted(), "an index's name")
        definition = counted()
        indexes[digest(definition)] = index_definition(Cursor(definition)) + (state == 1,)
        cursor.byte("a place")
        counted()
        counted()
        if state > 2:
            raise Damage("an index has no state")
    if cursor.rest:
        raise Damage("bytes are left behind the catalog of indexes")
    of_references = any(index[1] == 0 for index in indexes.values())
    of_subclass = any(index[3] for index in indexes.values())
    if version != (3 if of_subclass else 2 if of_references else 1):
        raise Damage("the catalog of indexes has the version of another one")
    return indexes


def index_definition(cursor):
    tags, flags = [cursor.take(8, "a tag")], cursor.byte("flags")
    cursor.take(4, "a version")
    tags += [cursor.take(8, "a tag") for _ in range(cursor.byte("a count"))]
    count = cursor.byte("a count")
    for _ in range(count):
        cursor.byte("flags")
        for _ in range(2):
            for _ in range(cursor.byte("a count")):
                length = int.from_bytes(cursor.take(2, "a length"), "big")
                utf8(cursor.take(length, "a key"), "a key")
    of_subclass = flags & 17 == 17
    if of_subclass:
        class_tags = [cursor.take(8, "a tag") for _ in range(cursor.byte("a count"))]
        flags = flags & ~16 if class_tags else 255
    of_references = flags in (8, 12) and count == 0 and tags == [bytes(8)]
    if not (of_references or flags < 8 and 1 <= count <= 4) or cursor.rest:
        raise Damage("the definition of an index is damaged")
    return tags, count, bool(flags & 4), of_subclass


def index_entry(key, value, store):
    if len(key) < 19 or len(value) not in (1, 9):
        raise Damage("it is too short")
    index = store.indexes.get(key[9:17])
    if index is None:
        raise Damage("its index is not in the catalog")
    tags, count, is_hashed, _, is_ready = index
    if key[1:9] not in tags:
        raise Damage("its tag is none of its index's")
    values, in_key = key[17 : 17 + value[0]], key[17 + value[0] :]
    if value[0] > 240 or 224 < value[0] < 240 or not in_key:
        raise Damage("its values have a wrong length")
    if value[0] < 240:
        cursor = Cursor(values)
        for _ in range(1 if is_hashed else count):
            index_value(cursor)
        if cursor.rest:
            raise Damage("bytes are left behind its values")
    if is_ready and store.get(bytes([RECORD]) + key[1:9] + in_key) is None:
        raise Damage("its record is missing")


def reference_entry(key, value, store):
    is_hashed = key[0] == HASHED_REFERENCE
    indexes = [index for index in store.indexes.values() if index[1] == 0 and index[2] == is_hashed]
    if not indexes:
        raise Damage("its index is not in the catalog")
    place = 17 if is_hashed else 2 + key[1] + 8
    if len(key) < place + 9 or len(value) not in (1, 9) or not 1 <= value[0] <= 7:
        raise Damage("it has a wrong length, or no kind of reference")
    if not is_hashed and not 1 <= key[1] <= 240:
        raise Damage("what is referred to has no identifier")
    if indexes[0][4] and store.get(bytes([RECORD]) + key[place:]) is None:
        raise Damage("its record is missing")


def index_value(cursor):
    kind = cursor.byte("a value")
    if kind in (0x05, 0x06):
        negative = cursor.take(8, "a number")[0] < 0x80
        if kind == 0x05 and cursor.byte("a number") == 1:
            cursor.take(2, "a decimal")
            while cursor.byte("a decimal") != (0xFF if negative else 0x00):
                pass
    elif kind in (0x07, 0x09, 0x0A):
        cursor.take(8 if kind == 0x0A else 0, "a tag")
        byte = cursor.byte("a value")
        while byte != 0:
            if byte == 1 and cursor.byte("a value") not in (1, 2):
                raise Damage("a value has a byte that stands for none")
            byte = cursor.byte("a value")
    elif kind in (0x08, 0x10):
        cursor.take(16, "a value")
    elif kind not in (0x01, 0x02, 0x03, 0x0F):
        raise Damage(f"a value has the kind {kind:02x}")


def status_entry(key, value):
    if value:
        raise Damage(f"it has a value of {len(value)} bytes")
    if len(key) < 11 or key[1] > 3:
        raise Damage("it names no record or no status")


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


class Store:
    """The entries, and what the metadata say of them."""

    def __init__(self, path):
        quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        self.database = sqlite3.connect(f"file:{quoted}?mode=ro", uri=True)
        self.texts, self.hash_key = Texts(self), None
        self.check_metadata()

    def get(self, key):
        row = self.database.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def space(self, number):
        return self.database.execute(
            "SELECT key, value FROM entries WHERE key >= ? AND key < ? ORDER BY key",
            (bytes([number]), bytes([number + 1])))

    def check_metadata(self):
        # Of both formats of the file: in the second one, entries is a view.
        for name, expected in ("application_id", [APPLICATION_ID]), ("user_version", [1, 2]):
            if self.database.execute(f"PRAGMA {name}").fetchone()[0] not in expected:
                raise Damage(f"this is no garage that this reader knows: its {name} is another")
        metadata = self.get(bytes([METADATA]) + b"garage")
        if metadata is None:
            raise Damage("the store has no metadata: nothing has been parked in it")
        cursor = Cursor(metadata)
        if cursor.take(6, "metadata") != b"Garage":
            raise Damage("the metadata does not begin with Garage")
        version = int.from_bytes(cursor.take(2, "metadata"), "big")
        if version not in STORE_FORMATS:
            raise Damage(f"the store has format {version}; this reader knows formats {STORE_FORMATS}")
        cursor.take(8, "metadata")
        if cursor.take(8, "metadata") != digest(metadata[:16]) or cursor.rest:
            raise Damage("the metadata is damaged")
        hiding = self.get(bytes([METADATA]) + b"hiding")
        if hiding is not None:
            self.hash_key = hash_key(Cursor(hiding))
        indexes = self.get(bytes([METADATA]) + b"indexes")
        self.indexes = {} if indexes is None else catalog(Cursor(indexes))
        if self.indexes and version < 2:
            raise Damage("there are indexes in a store of format 1")


def hash_key(cursor):
    if cursor.byte("what hides identifiers") != 1:
        raise Damage("this reader does not know how identifiers are hidden")
    key = cursor.take(32, "what hides identifiers")
    if cursor.take(8, "what hides identifiers") != digest(b"\1" + key) or cursor.rest:
        raise Damage("what hides identifiers is damaged")
    return key


class Texts:
    """The texts of tags and shapes, which records name by their digests."""

    def __init__(self, store):
        self.store, self.tags, self.shapes = store, {}, {}

    def text(self, space, name, what):
        text = self.store.get(bytes([space]) + name)
        if text is None:
            raise Damage(f"the text of the {what} {name.hex()} is missing")
        if digest(text) != name:
            raise Damage(f"the text of the {what} {name.hex()} is damaged")
        return text

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


class Report:
    """Prints what is sound and what is not, and counts what is not."""

    def __init__(self):
        self.damaged = 0

    def read(self, what, rows, read, prints):
        for key, value in rows:
            try:
                result = read(key, value)
                if prints:
                    print(json.dumps(result))
            except Damage as error:
                self.damaged += 1
                print(f"reader.py: {what} {key.hex()}: {error}", file=sys.stderr)


def read_record(key, value, store):
    if len(key) < 10:
        raise Damage("the key is too short")
    return record(key, value, store)


def main(arguments):
    prints_keys = arguments[:1] == ["--keys"]
    if len(arguments) != 1 + prints_keys:
        print("usage: reader.py [--keys] STORE", file=sys.stderr)
        return 2
    sys.setrecursionlimit(10_000)
    path = os.path.abspath(arguments[-1])
    report = Report()
    try:
        store = Store(path)
        report.read("record", store.space(RECORD), lambda *entry: read_record(*entry, store), not prints_keys)
        report.read("typed key", store.space(TYPED_KEY), lambda *entry: typed_key(*entry, store), prints_keys)
        report.read("index entry", store.space(INDEX), lambda *entry: index_entry(*entry, store), False)
        for space in (HASHED_REFERENCE, REFERENCE):
            report.read("reference", store.space(space), lambda *entry: reference_entry(*entry, store), False)
        report.read("sync status", store.space(SYNC_STATUS), status_entry, False)
        return 1 if report.damaged else 0
    except (Damage, sqlite3.Error) as error:
        print(f"reader.py: {path}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
