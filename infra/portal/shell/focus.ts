/** Where the keyboard is. Without a focus, the next Tab would begin at the top of the page, and screen readers would say nothing. */

/** What may receive the focus instead of a part of it. */
const PLACES = 'dialog, fieldset, section, main';

/** Whether an element can have the focus. A button is disabled while it works, and a closed menu is not drawn. */
const isUsable = (element: HTMLElement): boolean =>
  element.isConnected && !element.matches(':disabled') && element.checkVisibility();

const focus = (element: HTMLElement): void => {
  if (!element.hasAttribute('tabindex')) element.tabIndex = -1;
  element.focus({ preventScroll: true });
};

/** Focuses the first control of a form that is marked as wrong, as soon as it is marked. */
export const focusInvalid = (form: ParentNode): void =>
  void setTimeout(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());

/**
 * Moves the focus when the element that has it disappears: to the part of the page around it, or to the title of the next page. An
 * element that was disabled gets it back afterwards.
 */
export const keepFocus = (): void => {
  let last: { element: HTMLElement; around: HTMLElement[] } | undefined;
  const look = (): void => {
    if (last === undefined || document.activeElement !== document.body) return;
    const { element, around } = last;
    if (isUsable(element)) element.focus({ preventScroll: true });
    // Who waits for a button stays there.
    else if (!element.matches(':disabled') || !element.isConnected) {
      const place = around.find(isUsable) ?? document.querySelector('main');
      const title = place?.matches('main') ? place.querySelector('h1') : undefined;
      if (place) focus(title ?? place);
    }
  };
  addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    const around: HTMLElement[] = [];
    for (let place = target.parentElement; place; place = place.parentElement) {
      if (place.matches(PLACES)) around.push(place);
    }
    last = { element: target, around };
  });
  addEventListener('focusout', ({ target }) =>
    setTimeout(() => {
      if (document.activeElement !== document.body || target !== last?.element) return;
      // Somebody has clicked beside it.
      if (last && isUsable(last.element)) last = undefined;
      else look();
    }),
  );
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
  addEventListener('submit', ({ target }) => target instanceof HTMLFormElement && focusInvalid(target));
};
