"""pg8000: a driver in Python alone, with prepared statements and binary values where it has them."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import pg8000
import session


def connect():
    e = os.environ
    return pg8000.connect(user=e["PGUSER"], host=e["PGHOST"], port=int(e["PGPORT"]), database=e["PGDATABASE"], password=e["PGPASSWORD"] or None)


def code(e):
    """The SQLSTATE, among the fields of an error, which this driver does not name."""
    return [field for field in e.args if re.fullmatch("[0-9A-Z]{5}", field) and field != "ERROR"]


def crud():
    session.dbapi_crud(connect(), pg8000.Error, code)


def dashboard():
    session.dbapi_dashboard(connect(), "default")


session.main(crud, dashboard, lambda: "pg8000 " + pg8000.__version__)
