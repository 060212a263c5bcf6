import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const inside = readFileSync(join(import.meta.dirname, 'inside', 'harness.cjs'), 'utf8')

/** A test with the scripts that it includes. */
export interface WebTest {
  /** Within the folder of the tests. */
  path: string
  text: string
  /** The test after the scripts that it includes. */
  program: string
  /** Queries of its address: the test runs once with each. */
  variants: string[]
}

/** Scripts that the server of the tests has at another address. */
const aliases: Record<string, string> = { '/resources/WebIDLParser.js': 'resources/webidl2/lib/webidl2.js' }

/** Reads a test by its path within the folder of the tests. */
export function readTest(source: string, path: string): WebTest {
  const text = readFileSync(join(source, path), 'utf8')
  const metaOf = (name: string) =>
    [...text.matchAll(new RegExp(`^// META: ${name}=(.*)$`, 'gm'))].map(([, value]) => value!.trim())
  const included = metaOf('script')
    .filter((name) => !name.startsWith('/resources/testharness'))
    .map((name) => readFileSync(join(source, aliases[name] ?? resolve(path, name)), 'utf8'))
  const variants = metaOf('variant')
  return { path, text, program: [...included, text].join('\n;\n'), variants: variants.length > 0 ? variants : [''] }
}

/**
 * Makes a bundle of a test whose function `handler` runs it and answers with the results of its parts. The same bundle runs in
 * isolates and in Node.
 *
 * @param source the folder of the tests
 * @param patience milliseconds after which what is not done counts as failed
 */
export function wrapTest(
  source: string,
  { test, variant, patience }: { test: WebTest; variant: string; patience: number },
): string {
  const { path, program } = test
  // Scripts of pages define functions as globals. A line that looks like one may be part of something else.
  const functions = [...program.matchAll(/^(?:async )?function\*? (\w+)/gm)].map(
    ([, name]) => `if (typeof ${name} === 'function') self.${name} ??= ${name};`,
  )
  const harness = readFileSync(join(source, 'resources', 'testharness.js'), 'utf8')
  const options = JSON.stringify({ path, variant, files: filesOf(source, { path, program }), patience })
  return `${inside}
module.exports.handler = async () => {
  const options = ${options}
  prepare(options)
  ;(function (module, exports, require) {\n${harness}\n}).call(self)
  const results = collect(options)
  try {
    (function (module, exports, require) {
\n${functions.join('\n')}\n${program}\n}).call(self)
  } catch (error) {
    results.fail(error)
  }
  return { status: 200, body: JSON.stringify(await results.ended) }
}`
}

/** The texts of the files that a test may fetch, by their path: those that it names, and descriptions of interfaces. */
function filesOf(source: string, { path, program }: { path: string; program: string }): Record<string, string> {
  const named = [...program.matchAll(/["'`]([\w./-]+\.(?:json|txt|html))(?=["'`?#])/g)].map(([, name]) =>
    resolve(path, name!),
  )
  const interfaces = program.includes('idl_test(')
    ? [...program.matchAll(/["']([\w-]+)["']/g)].map(([, name]) => `interfaces/${name!}.idl`)
    : []
  const files: Record<string, string> = {}
  for (const file of [...named, ...interfaces]) {
    const place = join(source, file)
    if (!file.startsWith('..') && existsSync(place)) files[`/${file}`] = readFileSync(place, 'utf8')
  }
  return files
}

/** The path of a file that a test names. */
function resolve(path: string, name: string): string {
  return name.startsWith('/') ? name.slice(1) : normalize(join(dirname(path), name))
}
