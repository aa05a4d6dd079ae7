<?php
namespace App\Jobs;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Queue\InteractsWithQueue;

class Note implements ShouldQueue
{
    use InteractsWithQueue, Queueable;

    public function __construct(public string $text, public float $seconds)
    {
    }

    public function handle()
    {
        usleep((int) ($this->seconds * 1000000));
        file_put_contents(storage_path('done.txt'), $this->text."\n", FILE_APPEND | LOCK_EX);
    }
}
