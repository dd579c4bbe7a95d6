import django
from django.conf import settings
settings.configure(DATABASES={'default':{'ENGINE':'django.db.backends.postgresql','HOST':'127.0.0.1','PORT':5599,'USER':'postgres','NAME':'shop'}}, INSTALLED_APPS=['django.contrib.postgres'], USE_TZ=True, TIME_ZONE='UTC', DEFAULT_AUTO_FIELD='django.db.models.AutoField')
django.setup()
from django.db import models, connection
from django.db.models import *
from django.db.models.functions import *
from django.contrib.postgres.aggregates import *
from django.core.paginator import Paginator
import datetime as dt
class Product(models.Model):
    name=models.TextField(); category=models.TextField(); active=models.BooleanField(); list_price=models.DecimalField(max_digits=10,decimal_places=2)
    class Meta: app_label='s'; managed=False; db_table='products'
class Order(models.Model):
    id=models.BigIntegerField(primary_key=True); customer_id=models.IntegerField()
    product=models.ForeignKey(Product,models.DO_NOTHING,null=True)
    status=models.TextField(); channel=models.TextField(); country=models.TextField(); segment=models.CharField(max_length=10)
    created_at=models.DateTimeField(); created_on=models.DateField(); shipped_at=models.DateTimeField(null=True)
    is_paid=models.BooleanField(); is_gift=models.BooleanField(null=True)
    amount=models.DecimalField(max_digits=12,decimal_places=2); discount=models.FloatField(null=True); quantity=models.IntegerField(); priority=models.SmallIntegerField(); rating=models.IntegerField(null=True); note=models.TextField(null=True)
    class Meta: app_label='s'; managed=False; db_table='orders'
O=Order.objects; P=Product.objects
def label(s):
    with connection.cursor() as c: c.execute("SELECT %s", ['## '+s])
def go(s,f):
    label(s)
    try:
        r=f()
        if isinstance(r,models.QuerySet): list(r)
    except Exception as e: print(s,e)
go('count', lambda: O.filter(status='shipped').count())
go('exclude count', lambda: O.exclude(note__isnull=True).exclude(status='new').count())
go('aggregate', lambda: O.aggregate(Sum('amount'),Avg('quantity'),Count('rating')))
go('values annotate', lambda: O.values('country').annotate(n=Count('id'),total=Sum('amount')).order_by('-total'))
go('values annotate having', lambda: O.values('status','channel').annotate(n=Count('id')).filter(n__gt=100).order_by('status','channel'))
go('filtered aggregates', lambda: O.values('country').annotate(paid=Count('id',filter=Q(is_paid=True)),share=Avg('amount',filter=Q(quantity__gte=3)|Q(rating__isnull=True))).order_by('country'))
go('TruncMonth', lambda: O.annotate(month=TruncMonth('created_on')).values('month').annotate(n=Count('id')).order_by('month'))
go('TruncDate tz', lambda: O.annotate(day=TruncDate('created_at')).values('day').annotate(s=Sum('amount')).order_by('day'))
go('ExtractYear', lambda: O.values(month=ExtractMonth('created_on')).annotate(s=Sum('quantity')).order_by('month'))
go('year lookup', lambda: O.filter(created_on__year=2024, created_on__month=3).count())
go('icontains', lambda: O.filter(Q(note__icontains='call')|Q(note__startswith='urgent')).count())
go('iexact in', lambda: O.filter(status__iexact='NEW',country__in=['AT','DE'],quantity__range=(2,5)).aggregate(n=Count('*')))
go('related', lambda: O.values('product__category').annotate(mean=Avg('amount')).order_by('product__category'))
go('related filter', lambda: O.filter(product__active=True,product__category='Light').aggregate(total=Sum('amount')))
go('distinct count', lambda: O.values('country').distinct().count())
go('annotate aggregate', lambda: O.values('country').annotate(n=Count('id')).aggregate(Avg('n'),Max('n')))
go('F', lambda: O.aggregate(total=Sum(F('amount')*F('quantity')), net=Sum(F('amount')*(1-F('discount')), output_field=FloatField())))
go('Case When', lambda: O.aggregate(big=Count(Case(When(amount__gt=200,then=1))), w=Sum(Case(When(status='returned',then=Value(0)),default=F('quantity'),output_field=IntegerField()))))
go('Case group', lambda: O.annotate(size=Case(When(quantity__lt=3,then=Value('few')),When(quantity__lt=7,then=Value('some')),default=Value('many'),output_field=CharField())).values('size').annotate(n=Count('id')).order_by('size'))
go('Coalesce', lambda: O.aggregate(d=Coalesce(Sum('discount'),0.0)))
go('Window', lambda: O.values('country').annotate(n=Count('id'),rank=Window(Rank(),order_by=Count('id').desc())).order_by('country'))
go('Subquery', lambda: P.annotate(n=Subquery(O.filter(product=OuterRef('pk')).order_by().values('product').annotate(c=Count('*')).values('c'))).order_by('id'))
go('related count annotate', lambda: P.annotate(n=Count('order')).values('name','n').order_by('name'))
go('related having', lambda: P.filter(active=True).values('category').annotate(total=Sum('order__amount')).filter(total__gt=1000).order_by('category'))
go('Exists', lambda: O.filter(Exists(P.filter(pk=OuterRef('product_id'),active=True))).count())
go('in subquery', lambda: O.filter(product__in=P.filter(category='Seat')).aggregate(Avg('amount')))
go('exclude in subquery', lambda: O.exclude(product__category='Seat').count())
go('paginator', lambda: list(Paginator(O.values('country').annotate(n=Count('id')).order_by('country'),2).page(2)))
go('union', lambda: O.filter(country='AT').values('status').annotate(n=Count('id')).order_by().union(O.filter(country='DE').values('status').annotate(n=Count('id')).order_by(),all=True))
go('StdDev', lambda: O.aggregate(StdDev('amount'),Variance('quantity')))
go('Corr', lambda: O.aggregate(Corr('amount','quantity'), RegrSlope('amount','quantity')))
go('Round', lambda: O.values('status').annotate(m=Cast(Avg('amount'),FloatField()),u=Upper('status')).order_by('status'))
go('exists', lambda: O.filter(status='new').exists())
go('min max', lambda: O.aggregate(Min('amount'),Max('amount')))
go('count distinct', lambda: O.aggregate(n=Count('customer_id',distinct=True)))
go('datetimes', lambda: list(O.dates('created_on','month')))
go('bool expr', lambda: O.values(big=ExpressionWrapper(Q(quantity__gt=4),output_field=BooleanField())).annotate(n=Count('id')))
