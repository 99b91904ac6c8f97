import { type ReactNode, useEffect, useRef } from "react";

export type DialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly className?: string;
};

/** A modal dialog. The browser keeps the focus inside; closing returns it to where it was. */
export function Dialog({ title, onClose, children, className }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (dialog === null) return;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      className={`dialog ${className ?? ""}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div className="dialog-body">{children}</div>
    </dialog>
  );
}

/** The only button of a dialog that changes nothing. */
export function CloseButton({ onClose }: Pick<DialogProps, "onClose">) {
  return (
    <div className="buttons">
      <button type="button" className="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
}
