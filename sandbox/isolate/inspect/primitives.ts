import { indexIn, sliceText, symbolToText, toText } from '../primordials.ts'
import { repeatText } from './built-ins.ts'
import { spend, type Inspection, type Style } from './inspection.ts'
import { quote } from './text.ts'

/** Up to this length, a text is shown on one line at any width. */
const shortText = 16

/** Shows a value that is neither an object nor a function. */
export function primitiveText(inspection: Inspection, value: unknown, style: Style): string {
  switch (typeof value) {
    case 'string':
      return stringText(inspection, value, style)
    case 'number':
      return style(spend(inspection, numberText(value)), 'number')
    case 'bigint':
      return style(spend(inspection, `${value}n`), 'bigint')
    case 'symbol':
      return style(spend(inspection, symbolText(value)), 'symbol')
    case 'boolean':
      return style(spend(inspection, toText(value)), 'boolean')
    default:
      return style(spend(inspection, toText(value)), value === null ? 'null' : 'undefined')
  }
}

export function numberText(value: number): string {
  return value === 0 && 1 / value < 0 ? '-0' : toText(value)
}

const symbolCharacters = 1000

export function symbolText(symbol: symbol): string {
  return sliceText(symbolToText(symbol), 0, symbolCharacters)
}

function stringText(inspection: Inspection, given: string, style: Style): string {
  const value = inspection.redact(given)
  const { breakLength, compact, indentation, left, maxStringLength } = inspection
  const length = maxStringLength < left ? maxStringLength : left
  let shown = value
  let rest = ''
  if (value.length > length) {
    const more = given.length - (length < 0 ? 0 : length)
    shown = sliceText(value, 0, length < 0 ? 0 : length)
    rest = `... ${more} more character${more > 1 ? 's' : ''}`
  }
  inspection.left -= shown.length + 1
  if (compact === true || shown.length <= shortText || shown.length <= breakLength - indentation - 4) {
    return style(quote(shown), 'string') + rest
  }
  return linesText(shown, style, `\n${repeatText(' ', indentation + 2)}`) + rest
}

/** A text of several lines as one text a line. */
function linesText(text: string, style: Style, newline: string): string {
  let lines = ''
  let start = 0
  while (start < text.length) {
    const at = indexIn(text, '\n', start)
    const end = at === -1 ? text.length : at + 1
    lines += (start === 0 ? '' : ` +${newline}`) + style(quote(sliceText(text, start, end)), 'string')
    start = end
  }
  return lines
}
