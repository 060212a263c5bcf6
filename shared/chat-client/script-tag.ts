/**
 * The tag by which a page shows a web chat.
 *
 * @param webhookUrl address of the web chat, `https://<platform>/webchat/<webhook id>`
 */
export function scriptTagOf(webhookUrl: string): string {
  return `<script src="${webhookUrl}/inject.js" async></script>`
}
