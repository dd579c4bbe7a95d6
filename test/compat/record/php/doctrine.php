<?php error_reporting(E_ERROR);
require '/usr/share/php/Doctrine/ORM/autoload.php';
use Doctrine\ORM\Tools\Pagination\Paginator;
use Doctrine\ORM\Mapping as ORM;
#[ORM\Entity] #[ORM\Table(name:'products')] class Product{#[ORM\Id] #[ORM\Column] public int $id;#[ORM\Column] public string $category;#[ORM\Column] public bool $active;}
#[ORM\Entity] #[ORM\Table(name:'orders')] class Sale{#[ORM\Id] #[ORM\Column] public int $id;#[ORM\Column] public string $status;#[ORM\Column] public string $country;#[ORM\Column] public int $quantity;#[ORM\Column(nullable:true)] public ?int $rating;#[ORM\Column] public float $amount;#[ORM\Column(name:'is_paid')] public bool $paid;#[ORM\ManyToOne] #[ORM\JoinColumn(name:'product_id')] public ?Product $product;}
$cfg=new Doctrine\ORM\Configuration; $cfg->setMetadataDriverImpl(new Doctrine\ORM\Mapping\Driver\AttributeDriver([__DIR__])); $cfg->setProxyDir(sys_get_temp_dir());$cfg->setProxyNamespace('P');
$em=Doctrine\ORM\EntityManager::create(['driver'=>'pdo_pgsql','host'=>'127.0.0.1','port'=>5599,'user'=>'postgres','dbname'=>'shop'],$cfg);
function go($l,$f){global $em;$em->getConnection()->executeQuery("SELECT '## $l'");try{$f();}catch(Throwable $e){echo $l,' ',$e->getMessage(),"\n";}}
$q=fn($d,$p=[])=>$em->createQuery($d)->setParameters($p)->getScalarResult();
go('count',fn()=>$em->getRepository('Sale')->count(['status'=>'new','paid'=>true]));
go('dql group',fn()=>$q("SELECT o.country, COUNT(o.id) AS n, SUM(o.amount) AS total FROM Sale o WHERE o.paid = true GROUP BY o.country HAVING COUNT(o.id) > :n ORDER BY total DESC",['n'=>100]));
go('dql join',fn()=>$q("SELECT p.category, AVG(o.amount) AS mean FROM Sale o JOIN o.product p GROUP BY p.category"));
go('dql case',fn()=>$q("SELECT SUM(CASE WHEN o.status = 'shipped' THEN o.quantity ELSE 0 END) AS shipped, COUNT(DISTINCT o.country) AS k FROM Sale o WHERE o.rating IS NULL OR o.quantity BETWEEN 2 AND 5"));
go('dql exists',fn()=>$q("SELECT COUNT(o) FROM Sale o WHERE EXISTS (SELECT p.id FROM Product p WHERE p = o.product AND p.category = 'Seat')"));
go('paginator',fn()=>(new Paginator($em->createQuery("SELECT o FROM Sale o WHERE o.status = 'new'")))->count());
