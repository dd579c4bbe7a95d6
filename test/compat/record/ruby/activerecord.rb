require 'active_record'
ActiveRecord::Base.establish_connection(adapter:'postgresql',host:'127.0.0.1',port:5599,username:'postgres',database:'shop')
class Product < ActiveRecord::Base; self.table_name='products'; has_many :orders; scope :active, ->{where(active:true)}; end
class Order < ActiveRecord::Base; self.table_name='orders'; self.primary_key='id'; belongs_to :product; end
def go(s) ; ActiveRecord::Base.connection.execute("SELECT '## #{s}'"); r=yield; r.to_a if r.is_a?(ActiveRecord::Relation); rescue => e; puts s, e.message; end
Order.first rescue 0
go('where count'){ Order.where(country:'DE').count }
go('where nil'){ Order.where(product_id: nil).or(Order.where(status: %w[new open])).count }
go('range'){ Order.where(created_at: Time.utc(2024,1,1)...Time.utc(2024,7,1), quantity: 2..5).count }
go('group count'){ Order.group(:status).count }
go('group two'){ Order.group(:status,:channel).count }
go('group sum order'){ Order.group(:country).order(:country).sum(:amount) }
go('group order sum desc limit'){ Order.group(:country).order('sum_amount DESC').limit(3).sum(:amount) }
go('group avg'){ Order.where(is_paid:true).group(:country).average(:amount) }
go('average'){ Order.average(:quantity) }
go('sum expr'){ Order.sum('amount * quantity') }
go('sum arel'){ Order.where(Order.arel_table[:amount].gt(100)).sum(:quantity) }
go('having'){ Order.group(:status).having('COUNT(*) > ?', 100).sum(:quantity) }
go('maximum'){ Order.maximum(:amount) }
go('limit count'){ Order.limit(100).count }
go('joins count'){ Order.joins(:product).where(products:{active:true}).count }
go('joins group'){ Order.joins(:product).group('products.category').count }
go('left joins'){ Product.left_joins(:orders).group(:category).count('orders.id') }
go('eager_load count'){ Order.eager_load(:product).where(products:{category:'Seat'}).count }
go('merge scope'){ Order.joins(:product).merge(Product.active).average(:amount) }
go('distinct count'){ Order.distinct.count(:customer_id) }
go('distinct column'){ Order.select(:country).distinct.count }
go('exists?'){ Order.exists?(status:'new') }
go('pluck'){ Order.group(:country).order(:country).pluck(:country, Arel.sql('COUNT(*)'), Arel.sql('AVG(amount)')) }
go('select group'){ Order.select('country, COUNT(*) AS n, SUM(amount) AS total').group(:country).having('SUM(amount) > ?', 1000).order('total DESC') }
go('date_trunc'){ Order.group("DATE_TRUNC('month', created_at)").count }
go('where not'){ Order.where.not(status:'returned').where.not(rating:nil).count }
go('in subquery'){ Order.where(product_id: Product.where(category:'Light').select(:id)).sum(:amount) }
go('from subquery'){ Order.from(Order.group(:country).select('country, COUNT(*) AS n'),:t).average('t.n') }
go('arel'){ t=Order.arel_table; ActiveRecord::Base.connection.select_all(t.project(t[:status],t[:id].count.as('n'),t[:amount].average.as('m'),t[:amount].sum).where(t[:country].in(%w[AT CH]).and(t[:quantity].gteq(2))).group(t[:status]).having(t[:id].count.gt(10)).order(t[:status].asc).take(10)) }
go('arel case'){ t=Order.arel_table; ActiveRecord::Base.connection.select_all(t.project(Arel::Nodes::Case.new.when(t[:is_paid]).then(t[:amount]).else(0).sum)) rescue puts $! }
go('arel window'){ t=Order.arel_table; w=Arel::Nodes::Window.new.order(t[:country]); ActiveRecord::Base.connection.select_all(t.project(t[:country],Arel.star.count.as('n'),Arel::Nodes::NamedFunction.new('SUM',[Arel.star.count]).over(w).as('running')).group(t[:country])) }
go('arel filter cte'){ t=Order.arel_table; c=Arel::Table.new(:c); cte=Arel::Nodes::As.new(c, t.project(t[:country],Arel.star.count.as('n')).group(t[:country])); ActiveRecord::Base.connection.select_all(c.project(c[:n].sum).with(cte)) }
go('find_by_sql explain'){ Order.group(:status).select(:status,'count(*) n').explain }
go('counter lookup'){ Product.select('products.*, (SELECT COUNT(*) FROM orders WHERE orders.product_id = products.id) AS orders_count').order(:id).limit(5) }
go('in_batches / ids'){ Order.where(status:'new').minimum(:created_on) }
go('unscope any'){ Order.where(country:'DE').any? }
go('none empty'){ Order.where(country:'DE').size }
