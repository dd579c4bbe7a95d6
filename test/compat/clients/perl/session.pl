# DBD::Pg: placeholders with and without server-side prepare, bytea, arrays, COPY, savepoints, notices, LISTEN.
use strict;
use warnings;
use utf8;
use DBI;
use DBD::Pg qw(:pg_types);
binmode STDOUT, ':utf8';
$| = 1;

sub connect_with {
    my (%options) = @_;
    return DBI->connect('dbi:Pg:', undef, $ENV{PGPASSWORD}, { RaiseError => 1, PrintError => 0, PrintWarn => 0, AutoCommit => 1, pg_enable_utf8 => 1, %options });
}

sub text { my $v = shift; return ref $v ? '[' . join(',', map { text($_) } @$v) . ']' : defined $v ? $v : 'NULL' }
sub say_ { print join(' ', map { text($_) } @_), "\n" }

sub crud {
    for my $prepare (0, 1) {
        my $db = connect_with(pg_server_prepare => $prepare);
        $db->do('TRUNCATE item');
        $db->begin_work;
        my $st = $db->prepare('INSERT INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
        $st->bind_param(8, undef, { pg_type => PG_BYTEA });
        $st->execute(1, 'Käse "alt"', '12.50', 0.1, 1, '2024-02-29 12:00+01', '2024-02-29', "\x00\xff", [ 'a', 'b c' ]);
        $st->execute($_, 'more', (undef) x 7) for 2 .. 4;
        $db->pg_savepoint('s');
        for my $bad (q{INSERT INTO item (id, name) VALUES (1, 'again')}, 'SELECT nosuch FROM item', 'SELECT 1/0') {
            eval { $db->do($bad) };
            say_($db->state, $db->errstr);
            $db->pg_rollback_to('s');
        }
        $db->commit;
        my $select = $db->prepare('SELECT * FROM item WHERE id <= ? ORDER BY id');
        for (1 .. 3) {
            $select->execute(2);
            while (my $row = $select->fetchrow_arrayref) {
                my @row = @$row;
                $row[7] = unpack('H*', $row[7]) if defined $row[7];
                say_(@row);
            }
        }
        say_($select->{NAME}, $select->{pg_type});
        say_($db->selectrow_array('UPDATE item SET price = price * 2 WHERE id = ? RETURNING price', undef, 1));
        say_($db->do('DELETE FROM item WHERE id = ?', undef, 4));
        $db->do('COPY item (id, name) FROM STDIN');
        $db->pg_putcopydata("$_\tcopied\n") for 8, 9;
        $db->pg_putcopyend;
        $db->do('COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT');
        my $line;
        print $line while $db->pg_getcopydata($line) >= 0;
        local $SIG{__WARN__} = sub { say_('warned', @_) };
        $db->do(q{DO $$ BEGIN RAISE WARNING 'heard'; END $$});
        $db->do('LISTEN events');
        $db->do(q{SELECT pg_notify('events', 'called')});
        my $n = $db->pg_notifies;
        say_($n->[0], $n->[2], $n->[1] == $db->{pg_pid} ? 'own' : 'other');
        my $slow = $db->prepare('SELECT pg_sleep(60)', { pg_async => PG_ASYNC });
        $slow->execute;
        select undef, undef, undef, 0.5; # until it runs: a cancel request that comes earlier is for nothing
        say_($db->pg_ready ? 'ready' : 'busy', $db->pg_cancel ? 'canceled' : 'done');
        say_($db->selectrow_array('SELECT count(*) FROM item'), $db->ping);
        say_(map { $_->{COLUMN_NAME} . ' ' . $_->{TYPE_NAME} } @{ $db->column_info(undef, 'public', 'item', '%')->fetchall_arrayref({}) });
        $db->disconnect;
    }
}

sub rows {
    my ($mode, $question, $rows) = @_;
    print join("\t", 'dashboard', $mode, $question, @$_), "\n" for @$rows;
}

sub dashboard {
    for my $prepare (0, 1) {
        my $db = connect_with(pg_server_prepare => $prepare, pg_switch_prepared => 1);
        my $mode = $prepare ? 'prepared' : 'not prepared';
        rows($mode, 'by_sex', $db->selectall_arrayref('SELECT sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex'));
        my $st = $db->prepare('SELECT education, count(*) FROM adult WHERE sex = ? AND age > ? GROUP BY education ORDER BY education');
        for (1 .. 2) {
            $st->execute('Female', 20);
            rows($mode, 'by_education', $st->fetchall_arrayref);
        }
        rows($mode, 'totals', $db->selectall_arrayref('SELECT sum(hours_per_week), avg(capital_gain)::float8 FROM adult WHERE education = ?', undef, 'Bachelors'));
        $db->disconnect;
    }
}

my %do = (crud => \&crud, dashboard => \&dashboard, version => sub { print "DBD::Pg $DBD::Pg::VERSION\n" });
$do{ $ARGV[0] }->();
