const C='postgres://postgres@127.0.0.1:5599/shop';
const knex=require('knex')({client:'pg',connection:C,pool:{min:1,max:1}});
const go=async(l,f)=>{await knex.raw(`SELECT '## ${l}'`);try{await f()}catch(e){console.log(l,e.message)}};
(async()=>{
const o=()=>knex('orders');
await go('count group where not',()=>o().select('channel').count('* as n').whereNot('status','returned').groupBy('channel'));
await go('sum avg',()=>o().sum({total:'amount'}).avg({mean:'quantity'}).where({is_paid:true}));
await go('having order limit',()=>o().select('country').sum('amount as total').groupBy('country').having(knex.raw('count(*)'),'>',100).orderBy('total','desc').limit(3).offset(1));
await go('first',()=>o().count('id as n').whereIn('status',['new','open']).whereBetween('quantity',[2,5]).first());
await go('join',()=>o().join('products','orders.product_id','products.id').select('products.category').avg('orders.amount as mean').where('products.active',true).groupBy('products.category').orderBy('products.category'));
await go('subquery from',()=>knex.avg('n').from(o().select('country').count('* as n').groupBy('country').as('t')));
await go('with',()=>knex.with('c',o().select('country').sum('amount as total').groupBy('country')).select('*').from('c').where('total','>',1000).orderBy('country'));
await go('whereExists',()=>o().count('* as n').whereExists(knex('products').select('*').whereRaw('products.id = orders.product_id').where('category','Seat')));
await go('whereIn sub',()=>o().sum('quantity').whereIn('product_id',knex('products').select('id').where({category:'Light'})));
await go('countDistinct',()=>o().countDistinct('customer_id as n'));
await go('or/null/like',()=>o().count().where(b=>b.whereNull('rating').orWhereILike('note','%call%')).andWhere('created_on','>=','2024-03-01'));
await go('raw date_trunc',()=>o().select(knex.raw("date_trunc('month', ??) as month",['created_at'])).count('* as n').groupByRaw('1').orderByRaw('1'));
await go('rank',()=>o().select('country').count('* as n').rank('r',q=>q.orderByRaw('count(*) desc')).groupBy('country').orderBy('country'));
await go('union',()=>o().count('* as n').where('country','AT').unionAll([o().count('* as n').where('country','DE')]));
const {Model,raw}=require('objection'); Model.knex(knex);
class Product extends Model{static get tableName(){return 'products'}}
class Order extends Model{static get tableName(){return 'orders'} static get relationMappings(){return{product:{relation:Model.BelongsToOneRelation,modelClass:Product,join:{from:'orders.product_id',to:'products.id'}}}}}
await go('objection resultSize',()=>Order.query().where('status','new').resultSize());
await go('objection page',()=>Order.query().select('country').count('* as n').groupBy('country').orderBy('country').page(0,2));
await go('objection joinRelated',()=>Order.query().joinRelated('product').select('product.category').sum('orders.amount as total').groupBy('product.category'));
await go('objection relatedQuery count',()=>Product.query().select('products.id',Order.query().whereColumn('orders.product_id','products.id').count().as('n')).orderBy('id').limit(5));
await knex.destroy();
})();
