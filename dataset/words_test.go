package dataset

import "testing"

func TestMentions(t *testing.T) {
	s, err := loadAdult(t)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]bool{
		"SELECT count(*) FROM adult": true, `SELECT 1 FROM U&"\0061dult"`: true,
		"SET FUGU.epsilon = 1": true, "SELECT * FROM fugu.budget": true,
		"SELECT * FROM pg_class": true, "SELECT Pg_Table_Size(1)": true, "DO $$BEGIN END$$": true,
		"CREATE FUNCTION f() RETURNS int RETURN 1": true, "SELECT * FROM pg_stat_new_thing": true,
		"SELECT 1": false, "SELECT * FROM country": false, "SELECT 1 FROM adult_reference": false,
	} {
		if got := s.Mentions(sql); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
	// The first look takes words in strings for names; the second does not.
	for _, sql := range []string{
		"INSERT INTO country VALUES ('pg_class', 'DO $$') ON CONFLICT DO NOTHING", "SELECT 'procedure'"} {
		if !s.Mentions(sql) || s.Masks.Mentions(sql) {
			t.Errorf("%s: %v at the first look, %v at the second", sql, s.Mentions(sql), s.Masks.Mentions(sql))
		}
	}
}
