package planner

import "sync"

// maxShared bounds the cells that a table keeps for further plans, over all lists. A policy with many group keys has more
// orders of them than memory.
const maxShared = 10 * maxCells

// cellLists keeps lists of cells by the keys that they are for. It is safe for concurrent use.
type cellLists struct {
	mu    sync.Mutex
	lists map[string][]Cell
	total int
}

func (l *cellLists) load(keys string) ([]Cell, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	cells, ok := l.lists[keys]
	return cells, ok
}

// store keeps a list, where there is room for it.
func (l *cellLists) store(keys string, cells []Cell) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.lists[keys]; ok || l.total+len(cells) > maxShared {
		return
	}
	if l.lists == nil {
		l.lists = map[string][]Cell{}
	}
	l.lists[keys] = cells
	l.total += len(cells)
}
