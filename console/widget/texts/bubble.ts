import type { WidgetTextName } from '../../../shared/models/webchat-appearance.ts'
import type { Language } from '../locale.ts'

/** The texts of the script of pages, which stays small without the others. */
export type BubbleText = Extract<WidgetTextName, 'title' | 'open' | 'close' | 'dismiss' | 'unread' | 'unavailable'>

export const bubbleTexts: Record<Language, Record<BubbleText, string>> = {
  en: {
    title: 'Chat',
    open: 'Open the chat',
    close: 'Close the chat',
    dismiss: 'Dismiss the message',
    unread: 'Unread messages: {count}',
    unavailable: 'The chat is not available on this page.',
  },
  de: {
    title: 'Chat',
    open: 'Chat öffnen',
    close: 'Chat schließen',
    dismiss: 'Nachricht ausblenden',
    unread: 'Ungelesene Nachrichten: {count}',
    unavailable: 'Der Chat ist auf dieser Seite nicht verfügbar.',
  },
  fr: {
    title: 'Chat',
    open: 'Ouvrir le chat',
    close: 'Fermer le chat',
    dismiss: 'Masquer le message',
    unread: 'Messages non lus : {count}',
    unavailable: 'Le chat n’est pas disponible sur cette page.',
  },
  es: {
    title: 'Chat',
    open: 'Abrir el chat',
    close: 'Cerrar el chat',
    dismiss: 'Ocultar el mensaje',
    unread: 'Mensajes sin leer: {count}',
    unavailable: 'El chat no está disponible en esta página.',
  },
}
