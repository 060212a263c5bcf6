const maxLength = 200
/** Longer ones are no extensions. */
const maxExtensionLength = 20

/** Characters that have no place in a name: controls, and those that show the characters after them in another order. */
const unfit = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** A name without the characters that would show it in another order: as `evil<U+202E>gnp.exe`, a program looks like a picture. */
export function legibleName(name: string): string {
  return name.replaceAll(unfit, '')
}

/** The name under which a file of a device is sent: without unfit characters, and not longer than the platform takes. */
export function sentFileName(name: string): string {
  const characters = Array.from(legibleName(name.toWellFormed()))
  if (characters.length === 0) return 'file'
  if (characters.length <= maxLength) return characters.join('')
  const dot = characters.lastIndexOf('.')
  const extension = characters.length - dot > maxExtensionLength ? [] : characters.slice(dot)
  return [...characters.slice(0, maxLength - extension.length), ...extension].join('')
}
