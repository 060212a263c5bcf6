/** The password in a URL, decoded and as it is written there. */
export function passwordsIn(url: string | undefined): string[] {
  const written = url === undefined ? '' : (URL.parse(url)?.password ?? '')
  if (written === '') return []
  try {
    return [written, decodeURIComponent(written)]
  } catch {
    return [written]
  }
}
