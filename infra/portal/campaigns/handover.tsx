/** A campaign that is being handed over to the service, or whose hand-over was interrupted. */
import { useEffect, useState } from 'preact/hooks';
import { Dialog, Notice } from '../../web/parts.tsx';
import { useToast } from '../../web/toast.tsx';
import { Failure } from '../shell/failure.tsx';
import { Section } from '../shell/page.tsx';
import { useAction } from '../use-call.ts';
import { campaigns } from '../words/campaigns.ts';
import { giveUp, peopleIn, type Sending, send } from './sending.ts';

const words = campaigns.check;

export const Handover = ({ sending }: { sending: Sending }) => {
  const toast = useToast();
  const [stopping, setStopping] = useState(false);
  const all = peopleIn(sending.portions);
  const done = peopleIn(sending.portions.slice(0, sending.accepted));
  const proceed = useAction(async () => {
    if (await send(sending)) toast(words.sent(all));
  });
  const stop = useAction(() => giveUp(sending));
  // Who leaves the page while it is handed over finds the campaign in the list.
  useEffect(() => setStopping(false), [sending.busy]);
  return (
    <Section title={words.handover}>
      <div class="parts">
        <progress value={done} max={all} aria-label={words.handover} />
        {sending.busy ? (
          <p role="status">{words.sending(done, all)}</p>
        ) : (
          <>
            <Notice tone="warn" title={words.interrupted}>
              <p>{done > 0 ? words.soFar(done, all) : words.unsure}</p>
            </Notice>
            <Failure error={sending.error} />
            <Failure error={proceed.error} />
            <div class="buttons">
              <button type="button" class="primary" disabled={proceed.busy} onClick={() => proceed.run()}>
                {words.proceed}
              </button>
              <button type="button" class="danger" onClick={() => setStopping(true)}>
                {words.stop}
              </button>
            </div>
          </>
        )}
        {stopping && (
          <Dialog
            title={words.stopTitle}
            close={campaigns.one.keep}
            onClose={() => setStopping(false)}
            actions={
              <button type="button" class="danger" disabled={stop.busy} onClick={() => stop.run()}>
                {campaigns.one.stopConfirm}
              </button>
            }
          >
            <p>{words.stopBody(all - done)}</p>
            <Failure error={stop.error} />
          </Dialog>
        )}
      </div>
    </Section>
  );
};
