import java.sql.*;
public class J{public static void main(String[] a)throws Exception{Connection c=DriverManager.getConnection("jdbc:postgresql://127.0.0.1:5599/shop?user=postgres");
 DatabaseMetaData m=c.getMetaData();ResultSet r=m.getTables(null,"public","%",new String[]{"TABLE","VIEW"});while(r.next());r=m.getColumns(null,"public","orders","%");while(r.next());r=m.getPrimaryKeys(null,"public","targets");while(r.next());r=m.getIndexInfo(null,"public","orders",false,false);while(r.next());r=m.getSchemas();while(r.next());
 c.setAutoCommit(false);PreparedStatement p=c.prepareStatement("SELECT country, count(*) FROM orders WHERE status = ? GROUP BY country ORDER BY country");p.setString(1,"new");p.setFetchSize(2);r=p.executeQuery();while(r.next());c.commit();}}
