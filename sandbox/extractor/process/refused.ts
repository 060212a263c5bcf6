/** The document cannot be read, or exceeds a limit. The message is for the person who uploaded it. */
export class Refused extends Error {
  override name = 'Refused'
}
