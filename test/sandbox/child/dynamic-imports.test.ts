import { expect, test } from 'vitest'
import { DynamicImports, importName } from '#sandbox/child/dynamic-imports.ts'

const imports = new DynamicImports()

test('each import() of a large bundle gets the other name, and all positions stay the same', () => {
  const filler = `var text = "${'x'.repeat(100_000)}";\n`.repeat(100)
  const code = `${filler}exports.load = async () => [await import("node:os"), await import ('fs'), "import('fs')"]`
  const replaced = imports.replaceIn('large', code)
  expect(replaced).toHaveLength(code.length)
  expect(replaced.slice(filler.length)).toBe(
    `exports.load = async () => [await ${importName}("node:os"), await ${importName} ('fs'), "import('fs')"]`,
  )
})

test.each([
  ['without an import()', `exports.import = (name) => require(name)`],
  ['with the text of a message of React', `warn("lazy(() => import('./MyComponent'))")`],
  ['with a method of that name', `class Keys { import(key) { return this.import("fs") } }`],
  ['that has the other name itself', `import("fs"); var ${importName} = 1`],
  ['with more of the word than any library', `import("fs"); ${'fail("import"); '.repeat(20_000)}`],
  ['that is no code', `import("fs"`],
])('a bundle %s stays as it is', (title, code) => {
  expect(imports.replaceIn(title, code)).toBe(code)
})
