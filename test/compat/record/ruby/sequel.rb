require 'sequel'
DB=Sequel.connect('postgres://postgres@127.0.0.1:5599/shop',max_connections:1)
def go(s); DB.run("SELECT '## #{s}'"); r=yield; r.all if r.is_a?(Sequel::Dataset); rescue=>e; puts s,e.message; end
o=DB[:orders]
go('count'){o.where(status:%w[new open]).count}
go('group_and_count'){o.group_and_count(:country)}
go('select_group'){o.select_group(:country).select_append{[count.function.*.as(:n),sum(:amount).as(:total)]}.having{count.function.* > 100}.order(Sequel.desc(:total)).limit(3)}
go('avg'){o.exclude(status:'returned').avg(:amount)}
go('group count'){o.group(:status).count}
go('join'){o.join(:products,id: :product_id).select_group(Sequel[:products][:category]).select_append{avg(Sequel[:orders][:amount]).as(:mean)}}
go('filter'){o.select{[count.function.*.filter(is_paid:true).as(:paid),sum(Sequel.case({{status:'shipped'}=>:amount},0)).as(:shipped)]}}
go('from_self'){o.select_group(:country).select_append{count.function.*.as(:n)}.from_self.select{avg(:n)}}
go('date_trunc'){o.select_group(Sequel.function(:date_trunc,'month',:created_at).as(:month)).select_append{sum(:quantity)}}
go('cte'){DB[:c].with(:c,o.select_group(:country).select_append{sum(:amount).as(:total)}).where{total > 1000}.order(:country)}
go('between'){o.where(quantity:2..5){amount > 100}.where(product_id:DB[:products].where(category:'Seat').select(:id)).sum(:amount)}
