package nearest

import "testing"

func TestOf(t *testing.T) {
	words := []string{"check", "serve", "init", "answers", "rows", "to", "twin"}
	for _, c := range []struct{ word, want string }{
		{"chek", "check"}, {"check", "check"}, {"Check", "check"}, {"chekc", "check"}, {"answer", "answers"},
		{"anwsers", "answers"}, {"srve", "serve"}, {"rwos", "rows"}, {"row", "rows"},
		{"", ""}, {"x", ""}, {"policy", ""}, {"t", ""}, {"answering machine", ""},
	} {
		if got := Of(c.word, words); got != c.want {
			t.Errorf("%q: %q, want %q", c.word, got, c.want)
		}
	}

	// Nobody is told one of two that may be meant.
	if got := Of("farm", []string{"form", "firm"}); got != "" {
		t.Errorf("farm: %q", got)
	}
}
