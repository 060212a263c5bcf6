import { expect, test } from 'vitest'
import { replaceImports } from '#sandbox/compiler/process/replace-imports.ts'
import { importName } from '#sandbox/protocol/import-name.ts'

/** A module as esbuild has it in a bundle, with as much text as is asked for. */
const module = (body: string, characters = 0) =>
  `var one=other((exports,module)=>{var text="${'x'.repeat(characters)}";${body}});\n`

test('each import() of a large bundle gets the other name, and all positions stay the same', () => {
  const filler = module('require("os")', 100_000).repeat(100)
  const body = `exports.load = async () => [await import("node:os"), await import ('fs'), "import('fs')"]`
  const replaced = replaceImports(`${filler}${module(body)}${filler}`)
  const expected = `exports.load = async () => [await ${importName}("node:os"), await ${importName} ('fs'), "import('fs')"]`
  expect(replaced === `${filler}${module(expected)}${filler}`).toBe(true)
})

test('only modules that seem to have one are parsed, until they have 8 MB together', () => {
  const [small, large] = [module('import("os")', 3_000_000), module('import("os")', 5_500_000)]
  const replaced = replaceImports(small + large)
  expect(replaced === small.replace('import', () => importName) + large).toBe(true)
})

test.each([
  ['without an import()', `exports.import = (name) => require(name)`],
  ['with the text of a message of React', `warn("lazy(() => import('./MyComponent'))")`],
  ['with a method of that name', `class Keys { import(key) { return this.import("fs") } }`],
  ['with a computed name', `import(["f", "s"].join(""))`],
  ['that has the other name itself', `import("fs"); var ${importName} = 1`],
  ['that is no code', `import("fs"); (`],
])('a bundle %s stays as it is', (_title, code) => {
  expect(replaceImports(code)).toBe(code)
})
