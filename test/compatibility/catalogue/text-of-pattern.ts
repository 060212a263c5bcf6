import { RegExpParser, type AST } from '@eslint-community/regexpp'

/**
 * A short text that a regular expression matches: of each choice the first one, and of each repetition the fewest. Assertions
 * about surroundings are ignored.
 */
export function textOfPattern(pattern: string): string {
  const { alternatives } = new RegExpParser().parsePattern(pattern)
  const text = textOf(alternatives)
  // A pattern of an end alone, such as that of a domain, is that of a longer text.
  return pattern.startsWith('^') ? text : `none${text}`
}

function textOf([first]: AST.Alternative[]): string {
  return first!.elements.map(textOfElement).join('')
}

function textOfElement(element: AST.Element): string {
  switch (element.type) {
    case 'Character':
      return String.fromCodePoint(element.value)
    case 'CharacterSet':
      return textOfSet(element)
    case 'CharacterClass':
      return textOfClass(element)
    case 'Group':
    case 'CapturingGroup':
      return textOf(element.alternatives)
    case 'Quantifier':
      return textOfElement(element.element).repeat(element.min)
    default:
      return ''
  }
}

function textOfSet({ raw }: AST.CharacterSet): string {
  const candidates: Record<string, string> = { '\\d': '1', '\\s': ' ', '\\W': '-' }
  return candidates[raw] ?? 'a'
}

/** A class is asked, because a negated one has no members to choose from. */
function textOfClass({ raw }: AST.CharacterClass): string {
  const isMember = new RegExp(`^${raw}$`, 'u')
  return ['a', '1', 'A', '-', '_', '.', ' ', '/', '@'].find((each) => isMember.test(each)) ?? ''
}
