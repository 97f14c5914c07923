/** The report of a campaign: a CSV file, which the service returns in pages. */
import { useState } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { useToast } from '../../web/toast.tsx';
import { addressOf, fetchPages } from '../client.ts';
import { sentenceOf } from '../shell/failure.tsx';
import { campaigns } from '../words/campaigns.ts';

const words = campaigns.one;

/** Saves bytes as a file of the reader. */
const save = (name: string, parts: Blob[], type: string): void => {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download has begun when the present task ends.
  setTimeout(() => URL.revokeObjectURL(address), 0);
};

/** A name that every file system accepts. */
const fileName = (name: string): string =>
  `${
    name
      .replaceAll(/[^\p{L}\p{N} ._-]+/gu, ' ')
      .trim()
      .slice(0, 80) || 'report'
  }.csv`;

const sizeOf = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

interface ReportProps {
  /** The id of the campaign. */
  id: string;
  /** The name of the file. */
  name: string;
  disabled: boolean;
}

export const ReportButton = ({ id, name, disabled }: ReportProps) => {
  const toast = useToast();
  /** Bytes that have arrived; undefined if no download runs. */
  const [loaded, setLoaded] = useState<number>();
  const download = async () => {
    const parts: Blob[] = [];
    try {
      setLoaded(0);
      const address = addressOf('exportJobLog', { path: { job_id: id, file: 'log.csv' } });
      for await (const part of fetchPages(address)) {
        parts.push(part);
        setLoaded(parts.reduce((sum, { size }) => sum + size, 0));
      }
      save(fileName(name), parts, 'text/csv');
      toast(words.reported);
    } catch (error) {
      toast(sentenceOf(error), 'bad');
    } finally {
      setLoaded(undefined);
    }
  };
  return (
    <button
      type="button"
      disabled={disabled || loaded !== undefined}
      title={disabled ? words.noReport : undefined}
      onClick={() => void download()}
    >
      <Icon name="download" />
      {loaded === undefined ? words.report : words.reporting(sizeOf(loaded))}
    </button>
  );
};
