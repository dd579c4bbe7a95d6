const {PrismaClient}=require('@prisma/client');const {PrismaPg}=require('@prisma/adapter-pg');
const p=new PrismaClient({adapter:new PrismaPg({connectionString:'postgres://postgres@127.0.0.1:5599/shop',max:1})});
const go=async(l,f)=>{await p.$executeRawUnsafe(`SELECT '## ${l}'`);try{await f()}catch(e){console.log(l,e.message)}};
(async()=>{
await go('count',()=>p.orders.count({where:{status:'new'}}));
await go('count select',()=>p.orders.count({select:{_all:true,rating:true}}));
await go('count take',()=>p.orders.count({take:100}));
await go('aggregate',()=>p.orders.aggregate({_sum:{quantity:true},_avg:{amount:true},_count:true,where:{OR:[{rating:null},{quantity:{gte:3}}]}}));
await go('aggregate minmax',()=>p.orders.aggregate({_min:{amount:true},_max:{amount:true}}));
await go('groupBy',()=>p.orders.groupBy({by:['status'],where:{country:'DE'},_count:{_all:true},_sum:{amount:true},orderBy:{status:'asc'}}));
await go('groupBy having',()=>p.orders.groupBy({by:['country'],_avg:{amount:true},having:{amount:{_avg:{gt:50}}},orderBy:{_avg:{amount:'desc'}},take:3}));
await go('relation count',()=>p.products.findMany({select:{id:true,_count:{select:{orders:true}}},orderBy:{id:'asc'},take:5}));
await go('relation filter',()=>p.orders.count({where:{product:{category:'Seat'}}}));
await go('some',()=>p.products.count({where:{orders:{some:{status:'new'}}}}));
await go('in contains',()=>p.orders.count({where:{status:{in:['new','open']},note:{contains:'call',mode:'insensitive'},NOT:{channel:'web'}}}));
await p.$disconnect()})();
