import type { JSX } from 'preact'

/**
 * A picture that the address itself contains, or the first letter of the name. A user chooses the address, and to load it
 * would show the reader's own address to its server.
 */
export function Picture({ name, url }: { name: string; url: string | undefined }): JSX.Element {
  if (url !== undefined && /^data:image\/(?:png|jpeg|gif|webp);base64,/.test(url)) {
    return <img class="avatar" src={url} alt="" width={28} height={28} />
  }
  return (
    <span class="avatar" aria-hidden="true">
      {firstCharacter(name).toUpperCase()}
    </span>
  )
}

function firstCharacter(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 32)
}
