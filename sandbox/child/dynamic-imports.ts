import { parse } from 'es-module-lexer/js'

/** The name of the function that takes the place of `import`. It is as long, so that positions in the code stay the same. */
export const importName = '$impor'

/** Most texts without an `import()` do not contain this, so they are not parsed. Messages of React mention `import('./MyComponent')`. */
const possibleImport = /(?<![.#\w$])import\s*\(\s*(?![\s)]|["'`]\.)/

/** The lexer makes an object of 200 bytes for each of these; a bundle of 14 MB, which includes a compiler, has 700. */
const words = /\b(?:im|ex)port\b/g
const maxWords = 20_000
const maxImports = 200
const maxKnown = 1000

/**
 * Makes each `import()` of bundles a call of `importName`, which the kernel provides: isolated-vm gives V8 no way to import a
 * module, so V8 would reject every `import()` with "Not supported". Bundlers leave it as it is where it names a module of Node.
 * Strings, comments and methods of that name stay as they are.
 */
export class DynamicImports {
  /**
   * The positions in bundles that were parsed, by id, so that a bundle which is loaded again and again is parsed once: that takes
   * 10 ms of processor time for a MB of ordinary code, 90 for code that is written to take long, and host calls of other runs wait
   * meanwhile. The lexer keeps 2 MB for each MB of the longest code.
   */
  readonly #known = new Map<string, number[]>()

  replaceIn(bundle: string, code: string): string {
    if (!possibleImport.test(code) || code.includes(importName) || hasTooManyWords(code)) return code
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

function hasTooManyWords(code: string): boolean {
  words.lastIndex = 0
  for (let count = 0; count <= maxWords; count += 1) if (!words.test(code)) return false
  return true
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
