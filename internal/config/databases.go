package config

import (
	"slices"

	"fugu/internal/strictyaml"
)

// databases reads upstream.databases: names as the server has them. No word stands for all of them, so that a database
// which is made later opens to nobody by itself.
func (d *decoder) databases(v *strictyaml.Value) {
	items, _ := v.List()
	for _, item := range items {
		name, ok := item.Text()
		switch {
		case !ok:
		case name == "" || len(name) > maxName || hasControl(name):
			item.Bad("",
				"upstream.databases: the name of a database has 1 to %d bytes, without control characters", maxName)
		case slices.Contains(d.config.Upstream.Databases, name):
			item.Bad("keep one of the two", "upstream.databases lists a database twice")
		default:
			d.config.Upstream.Databases = append(d.config.Upstream.Databases, name)
		}
	}
	if _, named := d.settings["policy"]; len(items) > 0 && !named {
		v.Bad("leave it out",
			"upstream.databases is for where there is a policy: without one every database can be reached")
	}
}
