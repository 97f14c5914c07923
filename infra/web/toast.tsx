/** Toasts: short messages for four seconds; errors stay until they are closed. */
import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useRef, useState } from 'preact/hooks';
import { Icon } from './icons.tsx';

type Tone = 'ok' | 'bad';

interface Toast {
  id: number;
  text: string;
  tone: Tone;
}

type Show = (text: string, tone?: Tone) => void;

const ToastContext = createContext<Show>(() => undefined);

const SHOWN_MS = 4_000;

export const useToast = (): Show => useContext(ToastContext);

export const Toasts = ({ children }: { children: ComponentChildren }) => {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const last = useRef(0);
  const close = (id: number) => setToasts((all) => all.filter((toast) => toast.id !== id));
  const show = useCallback<Show>((text, tone = 'ok') => {
    last.current += 1;
    const id = last.current;
    setToasts((all) => [...all.slice(-2), { id, text, tone }]);
    if (tone === 'ok') setTimeout(() => close(id), SHOWN_MS);
  }, []);
  return (
    <ToastContext.Provider value={show}>
      {children}
      <div class="toasts">
        {(['ok', 'bad'] as const).map((tone) => (
          <div key={tone} role={tone === 'ok' ? 'status' : 'alert'}>
            {toasts
              .filter((toast) => toast.tone === tone)
              .map(({ id, text }) => (
                <p key={id} class={`toast ${tone}`}>
                  <Icon name={tone === 'ok' ? 'check' : 'alert'} />
                  <span>{text}</span>
                  <button type="button" class="icon-button" title="Close" onClick={() => close(id)}>
                    <Icon name="close" />
                    <span class="unseen">Close</span>
                  </button>
                </p>
              ))}
          </div>
        ))}
      </div>
    </ToastContext.Provider>
  );
};
