import { parse } from 'es-module-lexer/js'

/** The name of the function that takes the place of `import`. It is as long, so that positions in the code stay the same. */
export const importName = '$impor'

/** Most texts without an `import()` do not contain this, so they are not parsed. Messages of React mention `import('./MyComponent')`. */
const possibleImport = /(?<![.#\w$])import\s*\(\s*(?![\s)]|["'`]\.)/

/**
 * Parsing takes 10 to 25 ms for a MB of ordinary code, and 90 for code that is written to take long. Host calls of other runs
 * wait meanwhile.
 */
const maxCharacters = 8_000_000
const maxImports = 200
const maxKnown = 1000

/**
 * Makes each `import()` of bundles a call of `importName`, which the kernel provides: isolated-vm gives V8 no way to import a
 * module, so V8 would reject every `import()` with "Not supported". Bundlers leave it as it is where it names a module of Node.
 * Strings, comments and methods of that name stay as they are.
 */
export class DynamicImports {
  /** The positions in bundles that were parsed, by id: so a bundle that is loaded again and again is parsed once. */
  readonly #known = new Map<string, number[]>()

  replaceIn(bundle: string, code: string): string {
    if (code.length > maxCharacters || !possibleImport.test(code) || code.includes(importName)) return code
    let result = ''
    let done = 0
    for (const start of this.#positionsIn(bundle, code)) {
      result += code.slice(done, start) + importName
      done = start + importName.length
    }
    return result + code.slice(done)
  }

  #positionsIn(bundle: string, code: string): number[] {
    const positions = this.#known.get(bundle) ?? importsIn(code)
    this.#known.delete(bundle)
    this.#known.set(bundle, positions)
    if (this.#known.size > maxKnown) this.#known.delete(this.#known.keys().next().value!)
    return positions
  }
}

/** The positions of `import()`; none where the lexer rejects the code, because its evaluation reports syntax errors. */
function importsIn(code: string): number[] {
  try {
    const [imports] = parse(code)
    const found = imports.filter((each) => each.type === 'dynamic' && each.phase === null)
    return found.length > maxImports ? [] : found.map(({ importStart }) => importStart)
  } catch {
    return []
  }
}
