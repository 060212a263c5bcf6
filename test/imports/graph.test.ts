import { expect, test } from 'vitest'
import { findCircles, findWrongImports, type ImportGraph } from './graph.ts'

const graph = (edges: Record<string, string[]>): ImportGraph =>
  new Map(Object.entries(edges).map(([from, to]) => [from, new Set(to)]))

test('files that reach each other by imports are a circle, however long, and each circle is reported once', () => {
  const imports = graph({
    'main.ts': ['a.ts', 'x.ts'],
    'a.ts': ['b.ts'],
    'b.ts': ['c.ts'],
    'c.ts': ['a.ts', 'leaf.ts'],
    'x.ts': ['y.ts'],
    'y.ts': ['x.ts'],
    'leaf.ts': [],
  })
  expect(findCircles(imports)).toEqual([
    ['a.ts', 'b.ts', 'c.ts'],
    ['x.ts', 'y.ts'],
  ])
})

test('a layer imports itself and the layers before it, and nothing after it', () => {
  const imports = graph({
    'shared/store/rows.ts': ['shared/errors.ts', 'shared/store/database.ts', 'shared/rpc/caller.ts'],
    'shared/store/database.ts': [],
    'shared/rpc/caller.ts': ['shared/store/rows.ts'],
    'shared/errors.ts': [],
    'api/server.ts': ['shared/rpc/caller.ts'],
  })
  const order = [['shared/errors.ts'], ['shared/store/'], ['shared/rpc/']]
  expect(findWrongImports(imports, order)).toEqual([{ from: 'shared/store/rows.ts', to: 'shared/rpc/caller.ts' }])
})
