import { indexIn, sliceText } from './primordials.ts'

const stackCharacters = 4000

/** The lines of a stack trace whose position is in the bundle. */
export function botFrames(stack: string): string {
  let frames = ''
  let start = 0
  while (start < stack.length && frames.length < stackCharacters) {
    const newline = indexIn(stack, '\n', start)
    const end = newline === -1 ? stack.length : newline
    const line = sliceText(stack, start, end)
    if (indexIn(line, '    at ') === 0 && indexIn(line, 'bot.js:') !== -1) frames += frames === '' ? line : `\n${line}`
    start = end + 1
  }
  return sliceText(frames, 0, stackCharacters)
}
