/** The style of the bubble and of the panel with the frame, in the shadow root: neither reaches the page nor is reached. */
export const style = `
:host { all: initial; -webkit-text-size-adjust: 100%; }
[hidden] { display: none !important; }
* { box-sizing: border-box; font: 15px/1.4 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
.bubble, .panel, .invitation { position: fixed; inset-inline-end: 20px; }
.bubble {
  inset-block-end: 20px; inline-size: 56px; block-size: 56px; padding: 0; border: 0; border-radius: 50%; cursor: pointer;
  background: var(--accent); color: var(--on-accent); box-shadow: 0 4px 16px rgb(0 0 0 / 25%);
  display: grid; place-items: center; transition: transform 0.15s;
}
.bubble:hover { transform: scale(1.05); }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
.bubble img { inline-size: 100%; block-size: 100%; border-radius: 50%; object-fit: cover; }
.badge {
  position: absolute; inset-block-start: -4px; inset-inline-end: -4px; min-inline-size: 22px; padding: 0 6px;
  border-radius: 11px; background: #b3261e; color: #fff; font-size: 13px; line-height: 22px; text-align: center;
}
.panel {
  inset-block-end: 88px; inline-size: 400px; block-size: min(680px, 100dvh - 108px); max-inline-size: calc(100vw - 40px);
  border-radius: calc(16px * var(--radius)); overflow: hidden; box-shadow: 0 8px 40px rgb(0 0 0 / 28%); animation: appear 0.18s ease-out;
}
iframe { display: block; inline-size: 100%; block-size: 100%; border: 0; color-scheme: normal; }
p + iframe { display: none; }
.panel p, .embedded p { margin: 0; block-size: 100%; padding: 24px; background: #fff; color: #1b1d21; }
.invitation {
  inset-block-end: 88px; max-inline-size: min(300px, 100vw - 40px); display: flex; align-items: flex-start;
  border-radius: calc(14px * var(--radius)); background: #fff; color: #1b1d21; box-shadow: 0 4px 20px rgb(0 0 0 / 22%);
}
.invitation button { border: 0; background: none; color: inherit; cursor: pointer; text-align: start; padding: 12px; }
.invitation button + button { padding-inline-start: 0; }
.embedded { display: block; inline-size: 100%; block-size: 100%; }
@media (max-width: 480px), (max-height: 480px) {
  .panel { inset: 0; inline-size: 100%; max-inline-size: none; block-size: 100dvh; border-radius: 0; }
  .panel.answered:not([hidden]) ~ .bubble { display: none; }
}
@media (prefers-color-scheme: dark) { .invitation, .panel p, .embedded p { background: #24272d; color: #f2f3f5; } }
@media print { .bubble, .panel, .invitation { display: none; } }
@media (forced-colors: active) { .bubble, .panel, .invitation { border: 1px solid; } }
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
@keyframes appear { from { opacity: 0; transform: translateY(12px); } }
`
