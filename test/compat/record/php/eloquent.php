<?php
error_reporting(E_ERROR);
require '/usr/share/php/Illuminate/Database/autoload.php';
use Illuminate\Database\Capsule\Manager as DB; use Illuminate\Database\Eloquent\Model;
$c=new DB;$c->addConnection(['driver'=>'pgsql','host'=>'127.0.0.1','port'=>5599,'database'=>'shop','username'=>'postgres','charset'=>'utf8','schema'=>'public']);$c->setAsGlobal();$c->bootEloquent();
class Product extends Model{public $timestamps=false;protected $table='products';function orders(){return $this->hasMany(Order::class,'product_id');}}
class Order extends Model{public $timestamps=false;protected $table='orders';function product(){return $this->belongsTo(Product::class,'product_id');}}
function go($l,$f){DB::connection()->getPdo()->query("SELECT '## $l'");try{$f();}catch(Throwable $e){echo $l,' ',$e->getMessage(),"\n";}}
go('count',fn()=>Order::where('status','open')->count());
go('sum',fn()=>Order::whereIn('country',['AT','DE'])->whereNotNull('rating')->sum('amount'));
go('avg',fn()=>Order::where('is_paid',true)->avg('quantity'));
go('group',fn()=>Order::select('country',DB::raw('count(*) as n'),DB::raw('sum(amount) as total'))->groupBy('country')->havingRaw('count(*) > ?',[100])->orderByDesc('total')->limit(3)->get());
go('groupBy count paginate',fn()=>DB::table('orders')->select('country',DB::raw('avg(amount) as mean'))->groupBy('country')->orderBy('country')->getCountForPagination());
go('withCount',fn()=>Product::withCount('orders')->orderBy('id')->limit(5)->get());
go('withSum',fn()=>Product::withSum('orders','amount')->orderBy('id')->limit(5)->get());
go('whereHas',fn()=>Order::whereHas('product',fn($q)=>$q->where('category','Seat'))->count());
go('whereBetween or',fn()=>Order::whereBetween('created_on',['2024-01-01','2024-03-31'])->where(fn($q)=>$q->where('channel','web')->orWhere('quantity','>',5))->count());
go('whereMonth',fn()=>Order::whereYear('created_at','2024')->whereMonth('created_at','3')->count());
go('join',fn()=>DB::table('orders')->join('products','products.id','=','orders.product_id')->select('products.category')->selectRaw('avg(orders.amount) as mean')->groupBy('products.category')->get());
go('distinct',fn()=>DB::table('orders')->distinct()->count('customer_id'));
go('fromSub',fn()=>DB::query()->fromSub(DB::table('orders')->select('country',DB::raw('count(*) as n'))->groupBy('country'),'t')->avg('n'));
go('exists',fn()=>Order::where('status','new')->exists());
go('whereDate',fn()=>Order::whereDate('created_at','2024-03-01')->count());
