import { assign, create, hasOwn, isObject, keys, record, sliceText } from '../primordials.ts'

/** The options of Node's `util.inspect` that are implemented, and their defaults. */
export interface InspectOptions {
  showHidden: boolean
  /** How many objects deep a value is shown; null or infinite for all. */
  depth: number | null
  colors: boolean
  customInspect: boolean
  maxArrayLength: number | null
  maxStringLength: number | null
  breakLength: number
  compact: boolean | number
  sorted: boolean | ((one: string, other: string) => number)
  getters: boolean | 'get' | 'set'
}

export const defaultOptions: InspectOptions = record({
  showHidden: false,
  depth: 2,
  colors: false,
  customInspect: true,
  maxArrayLength: 100,
  maxStringLength: 10_000,
  breakLength: 80,
  compact: 3,
  sorted: false,
  getters: false,
})

export type Style = (text: string, style: string) => string

/** An object that is being shown, and the enclosing ones. */
interface Around {
  object: object
  around: Around | undefined
}

/** The state of one inspection. */
export interface Inspection extends Omit<InspectOptions, 'depth' | 'maxArrayLength' | 'maxStringLength'> {
  depth: number
  maxArrayLength: number
  maxStringLength: number
  stylize: Style
  /** The options as they were given, for functions that show their own object. */
  given: object | undefined
  /** The public function, which these functions also get. */
  inspect: unknown
  /** Shows a value at a depth; a field, because all kinds of objects contain values. */
  show(inspection: Inspection, value: unknown, depth: number): string
  indentation: number
  /** The depth of the innermost object of the part that was shown last. */
  currentDepth: number
  around: Around | undefined
  /** The objects to which a circular reference refers, the last one first. */
  circular: Around | undefined
  circularCount: number
  /** The number of characters that may still be added. */
  left: number
  /** Whether the text is for a line of the log. */
  isForLog: boolean
  /** Redacts secrets in a text, before quotes, escapes and indentation change its form. */
  redact(text: string): string
  /** Whether an object's own function threw. */
  customFailed: boolean
}

/** Deeper objects are shown by their name alone, with any options: the stack has room for some thousand calls. */
const deepest = 200

export function beginInspection(
  given: object | undefined,
  overrides: Partial<InspectOptions>,
  characters: number,
  { show, inspect }: Pick<Inspection, 'show' | 'inspect'>,
): Inspection {
  const options = assign(create(null) as InspectOptions, defaultOptions)
  const wanted = given === undefined ? [] : keys(given)
  for (let index = 0; index < wanted.length; index += 1) {
    const name = wanted[index]!
    const isKnown = hasOwn(defaultOptions, name) || name === 'stylize'
    if (isKnown) (options as unknown as Record<string, unknown>)[name] = (given as Record<string, unknown>)[name]
  }
  assign(options, overrides)
  const { depth, maxArrayLength, maxStringLength } = options
  return assign(create(null) as Inspection, options, {
    depth: typeof depth === 'number' ? atMost(depth, deepest) : deepest,
    maxArrayLength: typeof maxArrayLength === 'number' ? atLeast(maxArrayLength, 0) : Infinity,
    maxStringLength: typeof maxStringLength === 'number' ? atLeast(maxStringLength, 0) : Infinity,
    stylize: options.colors ? colored : readStyle(options),
    given,
    inspect,
    show,
    indentation: 0,
    currentDepth: 0,
    around: undefined,
    circular: undefined,
    circularCount: 0,
    left: characters,
    isForLog: false,
    redact: plain,
    customFailed: false,
  })
}

function atMost(number: number, most: number): number {
  return number > most ? most : number
}

function atLeast(number: number, least: number): number {
  return number < least ? least : number
}

function readStyle(options: object): Style {
  const { stylize } = options as { stylize?: unknown }
  return typeof stylize === 'function' ? (stylize as Style) : plain
}

export function plain(text: string): string {
  return text
}

/** The options as a function gets them that shows its own object. */
export function optionsFor(inspection: Inspection): object {
  const options = {}
  const names = keys(defaultOptions)
  const state = inspection as unknown as Record<string, unknown>
  for (let index = 0; index < names.length; index += 1) assign(options, { [names[index]!]: state[names[index]!] })
  return assign(options, { stylize: inspection.stylize }, inspection.given)
}

export function isAround({ around }: Inspection, object: object): boolean {
  return indexOfObject(around, object) !== 0
}

/** The number of a circular reference to an object, from 1; made with the first reference. */
export function numberOfCircle(inspection: Inspection, object: object): number {
  const known = knownCircle(inspection, object)
  if (known !== 0) return known
  inspection.circular = record({ object, around: inspection.circular })
  inspection.circularCount += 1
  return inspection.circularCount
}

/** As `numberOfCircle`, but 0 for an object without a reference to it. */
export function knownCircle({ circular }: Inspection, object: object): number {
  return indexOfObject(circular, object)
}

/** The position of an object, counted from the outermost one; 0 if it is not there. */
function indexOfObject(inner: Around | undefined, object: object): number {
  let found = false
  let position = 0
  for (let outer = inner; outer !== undefined; outer = outer.around) {
    found ||= outer.object === object
    if (found) position += 1
  }
  return position
}

/** Takes the characters of a text from the budget; returns what of it still fits. */
export function spend(inspection: Inspection, text: string): string {
  const { left } = inspection
  inspection.left = left - text.length - 1
  if (text.length <= left) return text
  return `${sliceText(text, 0, atLeast(left, 0))}...`
}

/** The color of each kind of value. */
export const styles: Record<string, string> = record({
  special: 'cyan',
  number: 'yellow',
  bigint: 'yellow',
  boolean: 'yellow',
  undefined: 'grey',
  null: 'bold',
  string: 'green',
  symbol: 'green',
  date: 'magenta',
  regexp: 'red',
  module: 'underline',
})

/** The codes that begin and end each color and each style. */
export const colors: Record<string, [number, number]> = record({
  reset: [0, 0],
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  inverse: [7, 27],
  hidden: [8, 28],
  strikethrough: [9, 29],
  black: [30, 39],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  white: [37, 39],
  bgBlack: [40, 49],
  bgRed: [41, 49],
  bgGreen: [42, 49],
  bgYellow: [43, 49],
  bgBlue: [44, 49],
  bgMagenta: [45, 49],
  bgCyan: [46, 49],
  bgWhite: [47, 49],
  gray: [90, 39],
  grey: [90, 39],
  redBright: [91, 39],
  greenBright: [92, 39],
  yellowBright: [93, 39],
  blueBright: [94, 39],
  magentaBright: [95, 39],
  cyanBright: [96, 39],
  whiteBright: [97, 39],
})

function colored(text: string, style: string): string {
  const name = styles[style]
  const codes = name === undefined ? undefined : colors[name]
  return isObject(codes) ? `\u001b[${codes[0]}m${text}\u001b[${codes[1]}m` : text
}

/** Shows a value with the indentation of the lines of its surroundings. */
export function showInside(inspection: Inspection, value: unknown, depth: number, indentation = 2): string {
  inspection.indentation += indentation
  const text = inspection.show(inspection, value, depth)
  inspection.indentation -= indentation
  return text
}
