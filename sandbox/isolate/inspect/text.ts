import { execRegExp, indexIn, normalizeText, sliceText } from '../primordials.ts'
import { charCode, codePoint, repeatText } from './built-ins.ts'

const needsEscape = /[\u0000-\u001f'\\\u007f-\u009f\ud800-\udfff]/ // oxlint-disable-line no-control-regex

/** Quotes a text as Node does: with the quotes that need no escape, and with escapes of control characters. */
export function quote(text: string): string {
  if (execRegExp(needsEscape, text) === null) return `'${text}'`
  const mark = quotesFor(text)
  let quoted = mark
  let start = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = charCode(text, index)
    if (isPair(text, index)) {
      index += 1
    } else if (isEscaped(code, mark)) {
      quoted += sliceText(text, start, index) + escapeOf(code)
      start = index + 1
    }
  }
  return quoted + sliceText(text, start) + mark
}

function quotesFor(text: string): string {
  if (indexIn(text, "'") === -1) return "'"
  if (indexIn(text, '"') === -1) return '"'
  return indexIn(text, '`') === -1 && indexIn(text, '${') === -1 ? '`' : "'"
}

/** Whether a surrogate pair begins here. */
function isPair(text: string, index: number): boolean {
  const code = charCode(text, index)
  if (code < 0xd8_00 || code > 0xdb_ff) return false
  const next = charCode(text, index + 1)
  return next >= 0xdc_00 && next <= 0xdf_ff
}

function isEscaped(code: number, mark: string): boolean {
  if (code < 32 || code === 92) return true
  return (code === 39 && mark === "'") || (code > 126 && code < 160) || (code >= 0xd8_00 && code <= 0xdf_ff)
}

function escapeOf(code: number): string {
  switch (code) {
    case 8:
      return '\\b'
    case 9:
      return '\\t'
    case 10:
      return '\\n'
    case 12:
      return '\\f'
    case 13:
      return '\\r'
    case 39:
      return "\\'"
    case 92:
      return '\\\\'
    default:
      return code < 256 ? `\\x${hexOf(code, 2, '0123456789ABCDEF')}` : `\\u${hexOf(code, 4, '0123456789abcdef')}`
  }
}

function hexOf(code: number, length: number, digits: string): string {
  let text = ''
  for (let place = 0, rest = code; place < length; place += 1, rest = (rest - (rest % 16)) / 16) {
    text = digits[rest % 16]! + text
  }
  return text
}

/** Bytes as pairs of hexadecimal digits, as in `00 ff`. */
export function bytesToText(bytes: Uint8Array, length: number): string {
  let text = ''
  for (let index = 0; index < length; index += 1) {
    text += (index === 0 ? '' : ' ') + hexOf(bytes[index]!, 2, '0123456789abcdef')
  }
  return text
}

/** The text with spaces at the beginning of each line but the first. */
export function indentLines(text: string, spaces: number): string {
  if (spaces === 0 || indexIn(text, '\n') === -1) return text
  const indentation = repeatText(' ', spaces)
  let indented = ''
  let start = 0
  for (let at = indexIn(text, '\n'); at !== -1; at = indexIn(text, '\n', start)) {
    indented += sliceText(text, start, at + 1) + indentation
    start = at + 1
  }
  return indented + sliceText(text, start)
}

/** The text without the escape sequences of colors. */
export function withoutColors(text: string): string {
  let plain = ''
  let start = 0
  for (let at = indexIn(text, '\u001b['); at !== -1; at = indexIn(text, '\u001b[', start)) {
    const end = indexIn(text, 'm', at)
    if (end === -1) break
    plain += sliceText(text, start, at)
    start = end + 1
  }
  return plain + sliceText(text, start)
}

const beyondAscii = /[^\u0020-\u007e]/

/** The number of columns that a text takes on a terminal: wide characters take two, combining marks none. */
export function widthOf(text: string): number {
  if (execRegExp(beyondAscii, text) === null) return text.length
  const composed = normalizeText(text, 'NFC')
  let width = 0
  for (let index = 0; index < composed.length; index += 1) {
    const code = codePoint(composed, index)!
    if (code > 0xff_ff) index += 1
    if (isWide(code)) width += 2
    else if (!isWithoutWidth(code)) width += 1
  }
  return width
}

function isWithoutWidth(code: number): boolean {
  return (
    code <= 0x1f ||
    (code >= 0x7f && code <= 0x9f) ||
    (code >= 0x3_00 && code <= 0x3_6f) ||
    (code >= 0x20_0b && code <= 0x20_0f) ||
    (code >= 0x20_d0 && code <= 0x20_ff) ||
    (code >= 0xfe_00 && code <= 0xfe_0f) ||
    (code >= 0xfe_20 && code <= 0xfe_2f)
  )
}

function isWide(code: number): boolean {
  return (
    (code >= 0x11_00 && code <= 0x11_5f) ||
    (code >= 0x2e_80 && code <= 0x4d_bf && code !== 0x30_3f) ||
    (code >= 0x4e_00 && code <= 0xa4_c6) ||
    (code >= 0xa9_60 && code <= 0xa9_7c) ||
    (code >= 0xac_00 && code <= 0xd7_a3) ||
    (code >= 0xf9_00 && code <= 0xfa_ff) ||
    (code >= 0xfe_30 && code <= 0xfe_6b) ||
    (code >= 0xff_01 && code <= 0xff_60) ||
    (code >= 0xff_e0 && code <= 0xff_e6) ||
    (code >= 0x1_f3_00 && code <= 0x1_f6_4f) ||
    (code >= 0x1_f9_00 && code <= 0x1_f9_ff) ||
    (code >= 0x2_00_00 && code <= 0x3_ff_fd)
  )
}
