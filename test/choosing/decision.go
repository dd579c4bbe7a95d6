//go:build !byday

package main

import (
	"bytes"
	"text/template"
)

// questions are those of the page's section "Twin or noise?", in its order: whoever says yes to one has the answer
// beside it.
var questions = []struct {
	Lines           [2]string
	Answer, Because string
}{
	{[2]string{"Do analysts know single rows of the", "table, and may they ask any SQL?"}, "noise",
		"a twin shows whether a row is there"},
	{[2]string{"Do they want rows, medians, windows,", "a pg_dump, a dashboard of many tiles?"}, "twin",
		"any SQL, one price"},
	{[2]string{"Is there no public table with", "the same columns?"}, "twin", "it needs none"},
	{[2]string{"Do you publish a few figures", "a year, and no more?"}, "noise", "one count is off by less"},
}

var tree = template.Must(template.New("decision").Funcs(template.FuncMap{
	"y": func(i, more int) int { return 60 + 110*i + more },
}).Parse(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 {{y .Count 75}}" width="680" height="{{y .Count 75}}"
 role="img" aria-label="Twin or noise? Four questions, in order; the first yes decides, else a twin.">
<style>
text { font: 15px Arial, Helvetica, 'Liberation Sans', sans-serif; fill: #1c1f23 }
.quiet { font-size: 13px; fill: #545b66 }
.answer { font-weight: 650 }
.back { fill: #fff }
rect { stroke-width: 1; fill: #f3f4f6; stroke: #545b66 }
.twin rect { fill: #e3edfa; stroke: #0b57b0 }
.noise rect { fill: #fbeadd; stroke: #b34a00 }
path { fill: none; stroke: #545b66; stroke-width: 1.5 }
marker path { fill: #545b66; stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e6ea }
  .quiet { fill: #a5abb6 }
  rect { fill: #23262c; stroke: #a5abb6 }
  .back { fill: #16181c }
  .twin rect { fill: #22334d; stroke: #8ab8ff }
  .noise rect { fill: #46301f; stroke: #ffb074 }
  path { stroke: #a5abb6 }
  marker path { fill: #a5abb6 }
}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0 L8 4 L0 8 z"/></marker></defs>
<path class="back" style="stroke: none" d="M0 0 H680 V{{y .Count 75}} H0 z"/>
<text x="20" y="32" class="answer">Twin or noise? The first yes decides.</text>
{{- range $i, $q := .Questions}}
<g><rect x="20" y="{{y $i 0}}" width="330" height="66" rx="6"/>
<text x="36" y="{{y $i 28}}">{{index $q.Lines 0}}</text><text x="36" y="{{y $i 50}}">{{index $q.Lines 1}}</text></g>
<path d="M350 {{y $i 33}} H394" marker-end="url(#tip)"/><text x="360" y="{{y $i 26}}" class="quiet">yes</text>
<g class="{{$q.Answer}}"><rect x="396" y="{{y $i 4}}" width="270" height="58" rx="6"/>
<text x="410" y="{{y $i 28}}" class="answer">{{$q.Answer}}</text>
<text x="410" y="{{y $i 48}}" class="quiet">{{$q.Because}}</text></g>
<path d="M175 {{y $i 66}} V{{y $i 108}}" marker-end="url(#tip)"/><text x="184" y="{{y $i 92}}" class="quiet">no</text>
{{- end}}
<g class="twin"><rect x="20" y="{{y .Count 0}}" width="330" height="58" rx="6"/>
<text x="36" y="{{y .Count 25}}" class="answer">twin</text>
<text x="36" y="{{y .Count 45}}" class="quiet">paid once, and its parts add up to the whole</text></g>
</svg>
`))

// decision is the drawing of the section "Twin or noise?".
func decision() ([]byte, error) {
	var b bytes.Buffer
	err := tree.Execute(&b, map[string]any{"Questions": questions, "Count": len(questions)})
	return b.Bytes(), err
}
