package upstream

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/hook"
	"fugu/planner"
	"fugu/sqlstate"
)

// ErrTwin is the error of a statement over rows of a twin that are not listed, whatever the reason: PV005.
var ErrTwin = sqlstate.New(sqlstate.StatisticsFailed, "the statement could not be finished on the twin's rows").
	WithDetail("The reason is withheld, since it can tell about single rows. Nothing is charged.").
	WithHint("Select fewer rows, or group by something coarser, and try again.")

// Groups runs statements over twins whose rows are not listed, all on one snapshot, and returns their rows in text
// form. More than so many of a statement are refused.
func (r *Reader) Groups(ctx context.Context, statements []string, most int) (answers [][][]planner.Value, err error) {
	err = r.with(ctx, func(c *pgconn.PgConn) error {
		if len(statements) > 1 {
			if err := begin(ctx, c, ""); err != nil {
				return err
			}
			defer rollback(ctx, c)
		}

		// How many groups a twin has is public as the twin is: the error may depend on it.
		for _, sql := range statements {
			rows, err := query(ctx, c, sql, nil, nil)
			if err != nil {
				return missingTwin(err)
			}
			if len(rows) > most {
				return sqlstate.New(sqlstate.ProgramLimitExceeded, "the statement has more than %d groups", most).
					WithHint("Group by fewer columns, or by something coarser.")
			}
			answers = append(answers, rows)
		}
		return nil
	})

	if sqlstate.Is(err, sqlstate.StatisticsFailed) && !hook.RawErrors {
		return nil, ErrTwin
	}
	return answers, err
}

// missingTwin makes an error of the statement's text one that says what it comes of: the text is Fugu's, and was
// right when it was planned.
func missingTwin(err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) && len(pe.Code) == 5 && pe.Code[:2] == "42" {
		return sqlstate.New(sqlstate.ModelUnfit, "a twin is not there as it was when the statement was planned").
			WithHint("The policy's owner can build it: fugu twin build. Then prepare the statement again.").Because(err)
	}
	return err
}
