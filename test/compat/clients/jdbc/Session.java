import java.sql.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** JDBC in its modes: simple, extended, prepared on the server from the first time on with values in binary, and fetching by portal. */
public class Session {
    static Connection connect(String options) throws SQLException {
        Map<String, String> e = System.getenv();
        return DriverManager.getConnection("jdbc:postgresql://" + e.get("PGHOST") + ":" + e.get("PGPORT") + "/" + e.get("PGDATABASE") + "?sslmode=disable&" + options,
            e.get("PGUSER"), e.get("PGPASSWORD"));
    }

    static final String[][] MODES = {
        {"simple", "preferQueryMode=simple"},
        {"extended", "prepareThreshold=0"},
        {"binary", "prepareThreshold=-1&binaryTransfer=true"},
        {"cached", "preferQueryMode=extendedCacheEverything&prepareThreshold=1"},
        {"autosave", "autosave=always&prepareThreshold=1"},
        {"conservative", "autosave=conservative&prepareThreshold=1"},
    };

    static String line(ResultSet r, String separator) throws SQLException {
        StringBuilder out = new StringBuilder();
        for (int i = 1; i <= r.getMetaData().getColumnCount(); i++) {
            Object v = r.getObject(i);
            out.append(i > 1 ? separator : "").append(v instanceof byte[] ? Arrays.toString((byte[]) v) : String.valueOf(v));
        }
        return out.toString();
    }

    static void error(SQLException e) {
        System.out.println(e.getSQLState() + " " + e.getMessage());
    }

    static void crud() throws Exception {
        for (String[] mode : MODES) {
            System.out.println("== " + mode[0]);
            try (Connection c = connect(mode[1]); Statement s = c.createStatement()) {
                s.execute("TRUNCATE item");
                c.setAutoCommit(false);
                try (PreparedStatement p = c.prepareStatement("INSERT INTO item (id, name, price, weight, ok, day, data, tags) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")) {
                    p.setInt(1, 1);
                    p.setString(2, "K\u00e4se \"alt\"");
                    p.setBigDecimal(3, new java.math.BigDecimal("12.50"));
                    p.setDouble(4, 0.1);
                    p.setBoolean(5, true);
                    p.setDate(6, java.sql.Date.valueOf("2024-02-29"));
                    p.setBytes(7, mode[0].equals("simple") ? null : new byte[] {0, -1}); // which this driver cannot write as text
                    p.setArray(8, c.createArrayOf("text", new String[] {"a", "b c", null}));
                    System.out.println(p.executeUpdate());
                }
                try (PreparedStatement p = c.prepareStatement("INSERT INTO item (id, name) VALUES (?, ?)")) {
                    for (int i = 2; i < 40; i++) {
                        p.setInt(1, i);
                        p.setString(2, "more");
                        p.addBatch();
                    }
                    System.out.println(p.executeBatch().length);
                }
                Savepoint point = c.setSavepoint();
                for (String bad : new String[] {"INSERT INTO item (id, name) VALUES (1, 'again')", "SELECT nosuch FROM item", "SELECT 1/0"}) {
                    try {
                        s.execute(bad);
                    } catch (SQLException e) {
                        error(e);
                    }
                    c.rollback(point);
                }
                c.commit();
                for (int i = 0; i < 3; i++) {
                    try (PreparedStatement p = c.prepareStatement("SELECT id, name, price, weight, ok, day, data, tags FROM item WHERE id <= ? ORDER BY id")) {
                        p.setInt(1, 2);
                        ResultSet r = p.executeQuery();
                        while (r.next()) System.out.println(line(r, " | "));
                    }
                }
                try (PreparedStatement p = c.prepareStatement("SELECT id FROM item WHERE id > ? ORDER BY id")) {
                    p.setFetchSize(7); // a portal that is suspended
                    p.setInt(1, 0);
                    ResultSet r = p.executeQuery();
                    int n = 0, sum = 0;
                    for (; r.next(); n++) sum += r.getInt(1);
                    System.out.println(n + " " + sum);
                }
                try (PreparedStatement p = c.prepareStatement("UPDATE item SET price = price * 2 WHERE id = ?", Statement.RETURN_GENERATED_KEYS)) {
                    p.setInt(1, 1);
                    p.executeUpdate();
                    ResultSet r = p.getGeneratedKeys();
                    r.next();
                    System.out.println(r.getBigDecimal("price"));
                }
                System.out.println(s.executeUpdate("DELETE FROM item WHERE id > 3"));
                c.rollback();
                CopyManager copy = ((PGConnection) c).getCopyAPI();
                System.out.println(copy.copyIn("COPY item (id, name) FROM STDIN", new java.io.StringReader("80\teighty\n90\tninety\n")));
                java.io.StringWriter out = new java.io.StringWriter();
                System.out.println(copy.copyOut("COPY (SELECT id, name FROM item WHERE id > 38 ORDER BY id) TO STDOUT", out) + " " + out);
                s.execute("DO $$ BEGIN RAISE NOTICE 'heard'; END $$");
                System.out.println(s.getWarnings());
                c.commit();
                c.setAutoCommit(true);
                DatabaseMetaData meta = c.getMetaData();
                try (ResultSet r = meta.getColumns(null, "public", "item", null)) {
                    while (r.next()) System.out.print(r.getString("COLUMN_NAME") + " " + r.getString("TYPE_NAME") + ", ");
                }
                System.out.println();
                s.setQueryTimeout(1);
                try {
                    s.execute("SELECT pg_sleep(60)");
                } catch (SQLException e) {
                    error(e);
                }
            }
        }
    }

    static void print(String mode, String question, ResultSet r) throws SQLException {
        while (r.next()) System.out.println("dashboard\t" + mode + "\t" + question + "\t" + line(r, "\t"));
    }

    static void dashboard() throws Exception {
        for (String[] mode : MODES) {
            try (Connection c = connect(mode[1]); Statement s = c.createStatement()) {
                for (int i = 0; i < 2; i++) {
                    print(mode[0], "by_sex", s.executeQuery("SELECT sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex"));
                    try (PreparedStatement p = c.prepareStatement("SELECT education, count(*) FROM adult WHERE sex = ? AND age > ? GROUP BY education ORDER BY education")) {
                        p.setString(1, "Female");
                        p.setInt(2, 20);
                        print(mode[0], "by_education", p.executeQuery());
                    }
                }
                c.setAutoCommit(false);
                try (PreparedStatement p = c.prepareStatement("SELECT education, count(*) FROM adult WHERE sex = ? AND age > ? GROUP BY education ORDER BY education")) {
                    p.setFetchSize(5);
                    p.setString(1, "Female");
                    p.setInt(2, 20);
                    print(mode[0] + " portal", "by_education", p.executeQuery());
                }
                try (PreparedStatement p = c.prepareStatement("SELECT sum(hours_per_week), avg(capital_gain)::float8 FROM adult WHERE education = ?")) {
                    p.setString(1, "Bachelors");
                    print(mode[0], "totals", p.executeQuery());
                }
                c.commit();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        System.setOut(new java.io.PrintStream(System.out, true, "UTF-8"));
        switch (args[0]) {
            case "crud": crud(); break;
            case "dashboard": dashboard(); break;
            default: System.out.println(org.postgresql.util.DriverInfo.DRIVER_FULL_NAME);
        }
    }
}
