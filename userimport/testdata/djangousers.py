"""Writes django.json, the output of "manage.py dumpdata auth.user", and django.csv, the table
auth_user, of a database with three users. Made with Django 3.2.25 of Debian 12; salts are
random.

    /usr/bin/python3 djangousers.py DIRECTORY
"""
import csv
import datetime
import sys

import django
from django.conf import settings
from django.core.management import call_command

settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    USE_TZ=True,
    PASSWORD_HASHERS=[
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
        "django.contrib.auth.hashers.BCryptSHA256PasswordHasher",
    ],
)
django.setup()
call_command("migrate", verbosity=0)

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import connection

directory = sys.argv[1]
joined = datetime.datetime(2021, 2, 3, 4, 5, 6, 789000, tzinfo=datetime.timezone.utc)
User.objects.create_superuser("ada", "Ada@Example.com", "lètmein", first_name="Ada", last_name="Lovelace", date_joined=joined)
grace = User.objects.create_user("grace", "grace@example.com", first_name="Grace", is_active=False, date_joined=joined)
grace.password = make_password("correct horse battery", hasher="bcrypt_sha256")
grace.save()
User.objects.create_user("joan", "joan@example.com", None, date_joined=joined)

call_command("dumpdata", "auth.user", indent=1, output=f"{directory}/django.json")
with connection.cursor() as cursor, open(f"{directory}/django.csv", "w", newline="") as file:
    cursor.execute("SELECT * FROM auth_user ORDER BY id")
    table = csv.writer(file)
    table.writerow(column[0] for column in cursor.description)
    table.writerows(cursor.fetchall())
