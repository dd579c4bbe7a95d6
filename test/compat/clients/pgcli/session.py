"""pgcli, on a terminal of its own, since it is made for people: what it draws is read off that terminal."""
import os
import pty
import re
import select
import subprocess
import sys
import tempfile

SCRIPTS = {
    "crud": """INSERT INTO item (id, name, price) VALUES (1, 'one', 1.5), (2, 'two', NULL);
UPDATE item SET price = 7 WHERE id = 1 RETURNING id, price;
SELECT id, name, price FROM item ORDER BY id;
\\d item
SELECT nosuch FROM item;
DELETE FROM item;
""",
    "dashboard": """SELECT 'dashboard', 'text', 'by_sex', sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex;
SELECT 'dashboard', 'text', 'by_education', education, count(*) FROM adult WHERE sex = 'Female' AND age > 20 GROUP BY education ORDER BY education;
SELECT 'dashboard', 'text', 'totals', sum(hours_per_week), avg(capital_gain)::float8 FROM adult WHERE education = 'Bachelors';
""",
}
CONFIG = """[main]
multi_line = False
table_format = tsv
enable_pager = False
less_chatty = True
destructive_warning = False
timing = False
auto_expand = False
smart_completion = False
keyring = False
expand = False
row_limit = 0
prompt = 'fugu> '
log_level = NONE
on_error = RESUME
"""


def session(script):
    """What pgcli answers to each line of the script."""
    with tempfile.TemporaryDirectory() as home:
        config = os.path.join(home, "config")
        with open(config, "w") as f:
            f.write(CONFIG)
        env = dict(os.environ, HOME=home, XDG_CONFIG_HOME=home, TERM="dumb", PAGER="cat", PROMPT_TOOLKIT_NO_CPR="1")
        pid, fd = pty.fork()
        if pid == 0:
            os.execvpe("/usr/bin/pgcli", ["pgcli", "--pgclirc", config, "--no-password"], env)
        text = b""

        def until(mark):
            nonlocal text
            while mark not in text:
                if not select.select([fd], [], [], 60)[0]:
                    sys.exit("pgcli is silent after %r" % text[-2000:])
                try:
                    text += os.read(fd, 65536)
                except OSError:
                    sys.exit("pgcli ended after %r" % text[-2000:])
            answer, text = text.split(mark, 1)
            return answer.decode()

        until(b"fugu> ")
        for n, line in enumerate(script.splitlines()):
            # The terminal echoes what is written, once or twice; the mark is a line only as a value.
            os.write(fd, line.encode() + b"\rSELECT 'answered-%d' AS mark;\r" % n)
            yield plain(until(b"\nmark\r\nanswered-%d\r\nSELECT 1\r\n" % n), line)
        os.write(fd, b"\\q\r")
        try:
            while os.read(fd, 65536):
                pass
        except OSError:
            pass  # the terminal's end
        os.waitpid(pid, 0)


def plain(answer, statement):
    """The lines of an answer, without colours, the prompt, and what the terminal echoes."""
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", answer).replace("\r", "").replace("fugu> ", "")
    return [line for line in text.split("\n") if line.strip() not in ("", statement) and "AS mark;" not in line]


if __name__ == "__main__":
    if sys.argv[1] == "version":
        print(subprocess.run(["/usr/bin/pgcli", "--version"], capture_output=True, text=True).stdout.strip())
    else:
        for answer in session(SCRIPTS[sys.argv[1]]):
            print(*answer, sep="\n")
