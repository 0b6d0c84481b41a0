"""Prints the lines of foreign.tsv that Python libraries make.

Django 3.2.25, passlib 1.7.4, bcrypt 3.2.2 and argon2-cffi 21.1.0 are packages of
Debian 12; Werkzeug is 3.1.8. Salts are fixed, so the lines are the same each time:

    python3 foreign.py

Keycloak and ASP.NET have no Python library: their PBKDF2 is hashlib's here.
"""
import base64
import hashlib
import json
import sys

import argon2
import django
import passlib.hash
from django.conf import settings
from django.contrib.auth import hashers

try:
    from werkzeug import security
except ImportError:
    security = None

settings.configure()
django.setup()

WORD = "lètmein"
LONG = "x" * 72 + "y"


def line(source, password, text):
    print(source, password, text, sep="\t")


line("Django pbkdf2_sha256", WORD, hashers.PBKDF2PasswordHasher().encode(WORD, "seasalt", 1000))
line("Django pbkdf2_sha1", WORD, hashers.PBKDF2SHA1PasswordHasher().encode(WORD, "seasalt", 1000))
line("Django bcrypt_sha256", WORD, hashers.BCryptSHA256PasswordHasher().encode(WORD, b"$2b$04$CCCCCCCCCCCCCCCCCCCCC."))
line("Django bcrypt_sha256, long", LONG, hashers.BCryptSHA256PasswordHasher().encode(LONG, b"$2b$04$CCCCCCCCCCCCCCCCCCCCC."))
line("Django bcrypt", WORD, hashers.BCryptPasswordHasher().encode(WORD, b"$2b$04$CCCCCCCCCCCCCCCCCCCCC."))
line(
    "Django argon2",
    WORD,
    "argon2" + argon2.low_level.hash_secret(WORD.encode(), b"somesalt", 2, 512, 2, 16, argon2.Type.ID).decode(),
)

fixed = dict(salt=b"somesaltsomesalt", rounds=1000)
line("passlib pbkdf2_sha1", WORD, passlib.hash.pbkdf2_sha1.using(**fixed).hash(WORD))
line("passlib pbkdf2_sha256", WORD, passlib.hash.pbkdf2_sha256.using(**fixed).hash(WORD))
line("passlib pbkdf2_sha512", WORD, passlib.hash.pbkdf2_sha512.using(**fixed).hash(WORD))
# A salt that is different in the alphabet of passlib, which has "." where base64 has "+".
line("passlib pbkdf2_sha256, other alphabet", WORD, passlib.hash.pbkdf2_sha256.using(salt=b"\xfb\xef\xbe" * 4, rounds=1000).hash(WORD))
line("passlib scrypt", WORD, passlib.hash.scrypt.using(salt=b"somesaltsomesalt", rounds=10).hash(WORD))
bcrypt = dict(salt="CCCCCCCCCCCCCCCCCCCCC.", rounds=4)
line("passlib bcrypt_sha256, version 2", LONG, passlib.hash.bcrypt_sha256.using(**bcrypt).hash(LONG))
line("passlib bcrypt_sha256, version 1", LONG, passlib.hash.bcrypt_sha256.using(version=1, **bcrypt).hash(LONG))
line("passlib bcrypt", WORD, passlib.hash.bcrypt.using(**bcrypt).hash(WORD))
line("passlib argon2", WORD, passlib.hash.argon2.using(salt=b"somesalt", memory_cost=512, time_cost=2, parallelism=2).hash(WORD))

if security:  # its salts are random, so these two lines differ each time
    line("Werkzeug scrypt", WORD, security.generate_password_hash(WORD, "scrypt:1024:8:1"))
    line("Werkzeug pbkdf2:sha256", WORD, security.generate_password_hash(WORD, "pbkdf2:sha256:1000"))
    line("Werkzeug pbkdf2:sha1", WORD, security.generate_password_hash(WORD, "pbkdf2:sha1:1000"))


def keycloak(algorithm, digest, size, iterations=1000):
    salt = b"somesaltsomesalt"
    key = hashlib.pbkdf2_hmac(digest, WORD.encode().ljust(14, b"\0"), salt, iterations, size)
    secret = {"value": base64.b64encode(key).decode(), "salt": base64.b64encode(salt).decode(), "additionalParameters": {}}
    credential = {"hashIterations": iterations, "algorithm": algorithm, "additionalParameters": {}}
    return json.dumps({"secretData": json.dumps(secret), "credentialData": json.dumps(credential)})


line("Keycloak pbkdf2", WORD, keycloak("pbkdf2", "sha1", 64))
line("Keycloak pbkdf2-sha256, 32 bytes", WORD, keycloak("pbkdf2-sha256", "sha256", 32))
line("Keycloak pbkdf2-sha256, 64 bytes", WORD, keycloak("pbkdf2-sha256", "sha256", 64))
line("Keycloak pbkdf2-sha512", WORD, keycloak("pbkdf2-sha512", "sha512", 64))
