import type { JSX } from 'preact'

const words = /[\p{L}\p{N}]+/gu
/** Forms of a word differ in this many letters at their end, and share at least so many at their start. */
const maxEnding = 3
const minStem = 4

/** A text in which the words of a question are marked, in other forms too. All of it stays text. */
export function Highlight({ text, question }: { text: string; question: string }): JSX.Element {
  const asked = [...question.toLowerCase().matchAll(words)].map(([word]) => word)
  const parts: (string | JSX.Element)[] = []
  let end = 0
  for (const match of text.matchAll(words)) {
    const [word] = match
    if (!asked.some((each) => isForm(each, word.toLowerCase()))) continue
    parts.push(text.slice(end, match.index), <mark key={match.index}>{word}</mark>)
    end = match.index + word.length
  }
  return (
    <>
      {parts}
      {text.slice(end)}
    </>
  )
}

function isForm(one: string, other: string): boolean {
  if (one === other) return true
  const stem = Math.max(minStem, one.length - maxEnding, other.length - maxEnding)
  return one.length >= stem && one.slice(0, stem) === other.slice(0, stem)
}
