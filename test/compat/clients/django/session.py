"""Django's ORM: migrations of a model, queries, transactions, a server-side cursor, introspection."""
import datetime
import decimal
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import django
import session
from django.conf import settings

e = os.environ
settings.configure(INSTALLED_APPS=[], USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.AutoField", DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "NAME": e.get("PGDATABASE"), "USER": e.get("PGUSER"),
    "PASSWORD": e.get("PGPASSWORD"), "HOST": e.get("PGHOST"), "PORT": e.get("PGPORT")}})
django.setup()

from django.contrib.postgres.fields import ArrayField
from django.db import IntegrityError, connection, models, transaction
from django.db.models import Avg, Count, F, FloatField, Sum
from django.db.models.functions import Cast


class Item(models.Model):
    id = models.IntegerField(primary_key=True)
    name = models.TextField()
    price = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    weight = models.FloatField(null=True)
    ok = models.BooleanField(null=True)
    added = models.DateTimeField(null=True)
    day = models.DateField(null=True)
    data = models.BinaryField(null=True)
    tags = ArrayField(models.TextField(), null=True)

    class Meta:
        app_label, db_table = "shop", "item"


class Adult(models.Model):
    sex = models.TextField(primary_key=True)
    education = models.TextField()
    age = models.IntegerField()
    hours_per_week = models.IntegerField()
    capital_gain = models.IntegerField()

    class Meta:
        app_label, db_table, managed = "shop", "adult", False


class Note(models.Model):
    item = models.ForeignKey(Item, on_delete=models.CASCADE)
    text = models.CharField(max_length=20, db_index=True)

    class Meta:
        app_label, db_table = "shop", "note"


def crud():
    Item.objects.create(id=1, name='Käse "alt"', price=decimal.Decimal("12.50"), weight=0.1, ok=True, data=b"\x00\xff", tags=["a", "b c"],
                        added=datetime.datetime(2024, 2, 29, 11, tzinfo=datetime.timezone.utc), day=datetime.date(2024, 2, 29))
    Item.objects.bulk_create([Item(id=i, name="more") for i in range(2, 50)])
    for row in Item.objects.filter(id__lte=2).order_by("id").values_list():
        session.say(*row)
    session.say(Item.objects.filter(id=1).update(price=F("price") * 2), Item.objects.get(id=1).price)
    try:
        with transaction.atomic():
            Item.objects.create(id=1, name="again")
    except IntegrityError as error:
        session.say(error.__cause__.pgcode)
    with transaction.atomic():
        session.say(Item.objects.select_for_update().filter(id__gt=40).order_by("id").first().id)
        session.say(Item.objects.filter(id__gt=40).extra(where=["id < 45"]).count())
        transaction.set_rollback(True)
    session.say([i.id for i in Item.objects.order_by("id").iterator(chunk_size=7)])
    with connection.schema_editor() as editor:
        editor.create_model(Note)
    Note.objects.create(item_id=1, text="kept")
    with connection.cursor() as cursor:
        session.say([(c.name, c.null_ok) for c in connection.introspection.get_table_description(cursor, "note")],
                    sorted(connection.introspection.get_constraints(cursor, "note")))
    with connection.schema_editor() as editor:
        editor.delete_model(Note)


def dashboard():
    session.rows("orm", "by_sex", Adult.objects.values("sex").annotate(n=Count("*"), a=Avg("age")).order_by("sex").values_list("sex", "n", "a"))
    by_education = Adult.objects.filter(sex="Female", age__gt=20).values("education").annotate(n=Count("*")).order_by("education")
    session.rows("orm", "by_education", by_education.values_list("education", "n"))
    session.rows("iterator", "by_education", by_education.values_list("education", "n").iterator(chunk_size=5))
    t = Adult.objects.filter(education="Bachelors").aggregate(h=Sum("hours_per_week"), g=Cast(Avg("capital_gain"), FloatField()))
    session.rows("orm", "totals", [(t["h"], t["g"])])


session.main(crud, dashboard, lambda: "Django " + django.__version__)
