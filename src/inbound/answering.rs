//! The body of an answer, which tells what its connection is doing.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::connections::{Activity, Line};

/// The body of an answer: once it has ended, its connection is idle.
pub struct AnswerBody {
    body: Body,
    line: Arc<Line>,
}

impl AnswerBody {
    /// The body of an answer on a connection.
    pub fn of(body: Body, line: Arc<Line>) -> Self {
        line.becomes(Activity::Answering);
        Self { body, line }
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.line.becomes(Activity::Idle);
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
