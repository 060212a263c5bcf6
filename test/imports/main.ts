import { execFileSync } from 'node:child_process'
import { findCircles, findWrongImports, readImports } from './graph.ts'
import { layers } from './layers.ts'

/**
 * Checks that no files import each other in a circle, and that the rooms of `shared/`, `sandbox/` and `worker/` import only the
 * rooms before them.
 */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx'], {
  encoding: 'utf8',
})
const graph = readImports(files.split('\n').filter((file) => file !== '' && !file.startsWith('templates/')))
const circles = findCircles(graph)
const wrong = findWrongImports(graph, layers)
const unplaced = Array.from(graph.keys()).filter(
  (file) => /^(shared|sandbox|worker)\//.test(file) && !layers.flat().some((path) => file.startsWith(path)),
)
for (const circle of circles) console.error(`These files import each other in a circle:\n  ${circle.join('\n  ')}`)
for (const { from, to } of wrong) console.error(`${from} imports ${to}, whose room stands after its own`)
for (const file of unplaced) console.error(`${file} is in no layer of test/imports/layers.ts`)
if (circles.length + wrong.length + unplaced.length > 0) process.exitCode = 1
