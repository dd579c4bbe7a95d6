const {prepareCompiler,PostgresQuery}=require('@cubejs-backend/schema-compiler');
const Y=require('@cubejs-backend/schema-compiler/dist/src/compiler/YamlCompiler').YamlCompiler; Y.prototype.initFromPythonContext=async()=>{};
const model=`
cube('orders',{sql_table:'public.orders',
 joins:{products:{relationship:'many_to_one',sql:\`\${CUBE}.product_id = \${products}.id\`}},
 measures:{count:{type:'count'},total:{sql:'amount',type:'sum'},mean:{sql:'amount',type:'avg'},customers:{sql:'customer_id',type:'count_distinct'},
  paid:{type:'count',filters:[{sql:\`\${CUBE}.is_paid\`}]},share:{sql:\`1.0 * \${paid} / NULLIF(\${count}, 0)\`,type:'number'},
  running:{sql:'amount',type:'sum',rolling_window:{trailing:'unbounded'}}},
 dimensions:{id:{sql:'id',type:'number',primary_key:true},status:{sql:'status',type:'string'},country:{sql:'country',type:'string'},quantity:{sql:'quantity',type:'number'},is_paid:{sql:'is_paid',type:'boolean'},created_at:{sql:'created_at',type:'time'},
  size:{type:'string',case:{when:[{sql:\`\${CUBE}.quantity < 3\`,label:'few'},{sql:\`\${CUBE}.quantity < 7\`,label:'some'}],else:{label:'many'}}}},
 segments:{large:{sql:\`\${CUBE}.amount > 200\`}}
});
cube('products',{sql_table:'public.products',measures:{count:{type:'count'},weight:{sql:'list_price',type:'sum'}},dimensions:{id:{sql:'id',type:'number',primary_key:true},category:{sql:'category',type:'string'}}});
`;
const {compiler,joinGraph,cubeEvaluator}=prepareCompiler({localPath:()=>__dirname,dataSchemaFiles:()=>Promise.resolve([{fileName:'m.js',content:model}])},{adapter:'postgres'});
const {Client}=require('pg');
(async()=>{await compiler.compile();const c=new Client('postgres://postgres@127.0.0.1:5599/shop');await c.connect();
const go=async(l,q)=>{try{const [s,v]=new PostgresQuery({joinGraph,cubeEvaluator,compiler},{timezone:'UTC',...q}).buildSqlAndParams();console.log('##',l);console.log(s);console.log(JSON.stringify(v));await c.query(s,v)}catch(e){console.log('!!',l,e.message)}};
await go('count by dimension',{measures:['orders.count','orders.total'],dimensions:['orders.status'],order:[{id:'orders.total',desc:true}],rowLimit:100});
await go('by month in a date range',{measures:['orders.count'],timeDimensions:[{dimension:'orders.created_at',granularity:'month',dateRange:['2024-01-01','2024-06-30']}],order:[{id:'orders.created_at'}]});
await go('time and dimension',{measures:['orders.mean'],dimensions:['orders.country'],timeDimensions:[{dimension:'orders.created_at',granularity:'quarter'}],order:[{id:'orders.country'}]});
await go('filters',{measures:['orders.total'],filters:[{member:'orders.status',operator:'equals',values:['new','open']},{member:'orders.quantity',operator:'gte',values:['3']},{member:'orders.country',operator:'notEquals',values:['JP']}]});
await go('or filters',{measures:['orders.count'],filters:[{or:[{member:'orders.status',operator:'contains',values:['ship']},{and:[{member:'orders.is_paid',operator:'equals',values:['true']},{member:'orders.quantity',operator:'lt',values:['4']}]}]}]});
await go('measure filter',{measures:['orders.count'],dimensions:['orders.country'],filters:[{member:'orders.total',operator:'gt',values:['1000']}],order:[{id:'orders.country'}]});
await go('join',{measures:['orders.total'],dimensions:['products.category'],order:[{id:'products.category'}]});
await go('ratio and filtered measure',{measures:['orders.paid','orders.share'],dimensions:['orders.country']});
await go('case dimension, segment',{measures:['orders.count'],dimensions:['orders.size'],segments:['orders.large']});
await go('count distinct',{measures:['orders.customers']});
await go('rolling window',{measures:['orders.running'],timeDimensions:[{dimension:'orders.created_at',granularity:'month',dateRange:['2024-01-01','2024-06-30']}]});
await go('multiplied measures',{measures:['products.weight','orders.count'],dimensions:['products.category']});
await go('offset',{measures:['orders.total'],dimensions:['orders.country'],rowLimit:2,offset:1,order:[{id:'orders.total',desc:true}]});
await c.end()})().catch(e=>console.log(e));
